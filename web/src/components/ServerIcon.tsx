// A server's icon, only from data: URIs since nothing is fetched from outside; else its initials.
import css from "./ServerIcon.module.css";

const IMAGE = /^data:image\/(png|jpeg|webp|gif|svg\+xml)[;,]/i;

export function iconOf(icons: unknown): string | null {
  if (!Array.isArray(icons)) return null;
  for (const icon of icons) {
    const src: unknown =
      typeof icon === "object" && icon !== null ? (icon as { src?: unknown }).src : null;
    if (typeof src === "string" && IMAGE.test(src)) return src;
  }
  return null;
}

export function initials(name: string): string {
  const parts = name.split(/[^\p{L}\p{N}]+/u).filter(Boolean);
  const letters =
    parts.length > 1
      ? parts.slice(0, 2).map((part) => part[0])
      : [...(parts[0] ?? "?")].slice(0, 2);
  return letters.join("").toUpperCase();
}

export function ServerIcon({ name, icons }: { name: string; icons: unknown }) {
  const source = iconOf(icons);
  if (source) return <img className={css.icon} src={source} alt="" />;
  return (
    <span className={css.icon} aria-hidden="true">
      {initials(name)}
    </span>
  );
}
