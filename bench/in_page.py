"""What runs in the page to measure it: scripts that click, wait and read the browser's clock."""

from typing import Final

# Waits for each step's element and clicks it, then for the text; gives the time since navigation.
GO: Final = """async ({ steps, text, patience }) => {
  const frame = () => new Promise((done, fail) => {
    if (performance.now() > patience) fail(new Error(`waited in vain for ${steps} ${text}`));
    requestAnimationFrame(done);
  });
  for (const step of steps) {
    let found;
    while (!(found = document.querySelector(step))) await frame();
    found.click();
  }
  const wanted = text && new RegExp(text);
  while (wanted && !wanted.test(document.body.textContent)) await frame();
  let last = performance.now();
  for (;;) {
    await frame();
    const now = performance.now();
    if (now - last < 100) return now;
    last = now;
  }
}"""
# The time since navigation at which the page became still.
SETTLE: Final = """async ({ still, patience }) => {
  let seen = "", since = performance.now();
  for (;;) {
    await new Promise((done) => setTimeout(done, 50));
    const text = document.body.textContent;
    const now = performance.now();
    if (text !== seen) [seen, since] = [text, now];
    else if (now - since > still) return since;
    if (now > patience) throw new Error("the page never came to rest");
  }
}"""
KEYS: Final = """() => {
  window.__keys = [];
  addEventListener("keydown", () => {
    const began = performance.now(), { port1, port2 } = new MessageChannel();
    port1.onmessage = () => __keys.push(performance.now() - began);
    requestAnimationFrame(() => port2.postMessage(0));
  }, true);
}"""
# From the click on Run until what matches is new in the page.
RUN: Final = """async ({ selector, patience }) => {
  const frame = () => new Promise((done, fail) => {
    if (performance.now() > patience) fail(new Error(`waited in vain for ${selector}`));
    requestAnimationFrame(done);
  });
  const run = () => [...document.querySelectorAll("button")]
    .find((one) => one.textContent.trim().startsWith("Run") && !one.disabled);
  while (!run()) await frame();
  const before = new Set(document.querySelectorAll(selector));
  const began = performance.now();
  run().click();
  while (![...document.querySelectorAll(selector)].some((one) => !before.has(one))) await frame();
  await frame();
  return performance.now() - began;
}"""


# Starts a script and keeps how it ended where it can be waited for from outside.
BEGIN: Final = """async (given) => {
  while (!document.body) await new Promise((done) => setTimeout(done));
  const root = document.documentElement;
  delete root.dataset.benchEnded;
  const end = (answer) => { root.dataset.benchEnded = JSON.stringify(answer); };
  (%s)(given).then((value) => end({ value }), (thrown) => end({ problem: String(thrown) }));
}"""

# From the click on what opens a screen until its text is painted.
OPEN: Final = """async ({ step, text, patience }) => {
  const began = performance.now();
  document.querySelector(step).click();
  while (!document.body.textContent.includes(text)) {
    if (performance.now() - began > patience) throw new Error(`waited in vain for ${text}`);
    await new Promise(requestAnimationFrame);
  }
  await new Promise(requestAnimationFrame);
  return performance.now() - began;
}"""
# The median time of a step of scrolling, until the next frame is done.
SCROLL: Final = """async ({ selector }) => {
  const list = document.querySelector(selector);
  const done = () => new Promise((resolve) => {
    const { port1, port2 } = new MessageChannel();
    port1.onmessage = resolve;
    requestAnimationFrame(() => port2.postMessage(0));
  });
  const times = [];
  for (let step = 0; step < 40; step += 1) {
    await done();
    const began = performance.now();
    list.scrollTop += step < 20 ? -400 : 100_000 * (step % 2 ? -1 : 1);
    await done();
    times.push(performance.now() - began);
  }
  return times.sort((one, other) => one - other)[20];
}"""
