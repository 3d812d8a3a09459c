// Icons on a 16 px grid, in the color of the surrounding text.
const PATHS = {
  add: "M8 3v10M3 8h10",
  alert: "M8 2 15 14H1ZM8 6.5v3.5M8 12v.1",
  apps: "M2.5 3h11v10h-11ZM2.5 6h11M5 9.5h3M5 11.2h5",
  auth: "M4.5 7V5a3.5 3.5 0 0 1 7 0v2M3 7h10v7H3Z",
  check: "M3 8.5 6.5 12 13 4.5",
  chevron: "M6 4l4 4-4 4",
  clear: "M3 13h10M5 11 2.8 8.8a1 1 0 0 1 0-1.4l4-4a1 1 0 0 1 1.4 0l3.2 3.2a1 1 0 0 1 0 1.4L8 11",
  close: "M4 4l8 8M12 4l-8 8",
  collections: "M4 2h8v12l-4-3-4 3Z",
  compare: "M7 3H2.5v10H7M9 3h4.5v10H9M8 1.5v13",
  copy: "M5.5 5.5h8v8h-8ZM10.5 5.5v-3h-8v8h3",
  panelBottom: "M2 3h12v10H2ZM2 9.5h12",
  panelRight: "M2 3h12v10H2ZM9.5 3v10",
  down: "M4 6l4 4 4-4",
  download: "M8 2v8M4.5 7 8 10.5 11.5 7M3 13.5h10",
  duplicate: "M2.5 5.5h8v8h-8ZM5.5 5.5v-3h8v8h-3",
  edit: "M3 13l.7-3L10.5 3.2l2.3 2.3L6 12.3Z",
  expand: "M4 2l4 4 4-4M4 8l4 4 4-4",
  external: "M9 3h4v4M13 3 7.5 8.5M11.5 9.5v3.5H3V4.5h3.5",
  gateway: "M8 2v4M8 10v4M2 8h4M10 8h4M6 6h4v4H6Z",
  file: "M4 2h5l3.5 3.5V14H4ZM9 2v3.5h3.5",
  folder: "M2 4h4l1.5 1.5H14V13H2Z",
  history: "M3 8a5 5 0 1 0 1.6-3.7L3 5.8M3 2.8v3h3M8 5.2V8l2 1.4",
  info: "M8 1.8a6.2 6.2 0 1 0 0 12.4A6.2 6.2 0 0 0 8 1.8M8 7.2v4M8 4.8v.1",
  keyboard: "M1.5 4h13v8.5h-13ZM4 6.5h.1M6.5 6.5h.1M9 6.5h.1M11.5 6.5h.1M5 10h6",
  logs: "M3 3.5h10M3 6.5h7M3 9.5h10M3 12.5h5",
  minus: "M3 8h10",
  moon: "M13 9.5A5.5 5.5 0 0 1 6.5 3a5.5 5.5 0 1 0 6.5 6.5",
  path: "M3 2.5h4v3H3ZM5 5.5v8h4M5 8h4M9 6.5h4v3H9ZM9 12h4v3H9",
  pin: "M6 2h4l-.5 4.5 2.5 2V10H4V8.5l2.5-2ZM8 10v4.5",
  play: "M4.5 3v10l8-5Z",
  prompts: "M2 3h12v8H7l-3 3v-3H2Z",
  questions: "M4.5 3h7L14 9v4.5H2V9ZM2 9h3.5l1 2h3l1-2H14",
  refresh: "M13 5.5A5.5 5.5 0 1 0 13.5 9M13.5 2.5v3.2h-3.2",
  resources: "M8 1.8 14 5 8 8.2 2 5ZM2 8l6 3.2L14 8M2 11l6 3.2 6-3.2",
  search: "M7 2.5a4.5 4.5 0 1 0 0 9 4.5 4.5 0 0 0 0-9M10.3 10.3 14 14",
  servers: "M2.5 2.5h11v4h-11ZM2.5 9.5h11v4h-11ZM5 4.5h.1M5 11.5h.1",
  settings: "M3 4.5h5M11.5 4.5H13M3 11.5h1.5M8 11.5h5M9.8 2.8v3.4M6.2 9.8v3.4",
  skills:
    "M3 3.5h4A1.5 1.5 0 0 1 8 5v8.5A1.5 1.5 0 0 0 6.5 12H3ZM13 3.5H9A1.5 1.5 0 0 0 8 5v8.5A1.5 1.5 0 0 1 9.5 12H13Z",
  stop: "M4 4h8v8H4Z",
  sun: "M8 5a3 3 0 1 0 0 6 3 3 0 0 0 0-6M8 1v1.5M8 13.5V15M1 8h1.5M13.5 8H15M3 3l1 1M12 12l1 1M13 3l-1 1M4 12l-1 1",
  system: "M8 2a6 6 0 1 0 0 12A6 6 0 0 0 8 2V14M8 5h4M8 8h5.5M8 11h4",
  table: "M2 3h12v10H2ZM2 6.5h12M2 9.8h12M6.5 3v10",
  tasks: "M2.5 4 4 5.5 6.5 3M2.5 10.5 4 12l2.5-2.5M9 4.5h5M9 11h5",
  upload: "M8 10.5v-8M4.5 6 8 2.5 11.5 6M3 13.5h10",
  tools: "M9.5 6.5 3 13M10 2.5a3.5 3.5 0 0 0-.5 4 3.5 3.5 0 0 0 4-.5L11.5 7 9 4.5Z",
  traffic: "M2 5.5h10M9.5 3 12 5.5 9.5 8M14 10.5H4M6.5 8 4 10.5 6.5 13",
  up: "M4 10l4-4 4 4",
  trash: "M2.5 4h11M6 4V2.5h4V4M4 4l.6 9.5h6.8L12 4M6.5 6.5v4.5M9.5 6.5v4.5",
} as const;

export type IconName = keyof typeof PATHS;

export function Icon({ name, size = 16 }: { name: IconName; size?: number }) {
  return (
    <svg
      width={size}
      height={size}
      viewBox="0 0 16 16"
      fill="none"
      aria-hidden="true"
      focusable="false"
    >
      <path
        d={PATHS[name]}
        stroke="currentColor"
        strokeWidth="1.5"
        strokeLinecap="round"
        strokeLinejoin="round"
      />
    </svg>
  );
}
