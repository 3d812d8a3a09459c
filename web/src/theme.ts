// One type scale, one spacing scale, one accent color: all sizes come from here or from design.css.
// Controls are small by default, since the screens are dense.
import {
  ActionIcon,
  Button,
  type CSSVariablesResolver,
  createTheme,
  type MantineColorsTuple,
  type MantineThemeOverride,
} from "@mantine/core";

const lens: MantineColorsTuple = [
  "#e9f5f5",
  "#d2e9ea",
  "#a5d3d6",
  "#76bcc1",
  "#4fa8af",
  "#33969e",
  "#22848d",
  "#146f78",
  "#0d5e66",
  "#07484f",
];
const dark: MantineColorsTuple = [
  "#dbe0e6",
  "#b4bcc7",
  "#9aa4b2",
  "#6d7786",
  "#48515e",
  "#363e49",
  "#262c34",
  "#1b2027",
  "#161a20",
  "#101317",
];

// Minimum target size (WCAG 2.2, 2.5.8).
const SMALLEST_TARGET = "24px";
const small = { defaultProps: { size: "xs" } };

export const theme: MantineThemeOverride = createTheme({
  primaryColor: "lens",
  // White on these passes AA (5.8:1); the usual shade 6 does not.
  primaryShade: { light: 7, dark: 7 },
  colors: { lens, dark },
  defaultRadius: "sm",
  cursorType: "pointer",
  respectReducedMotion: true,
  fontFamily: "system-ui, -apple-system, 'Segoe UI', Roboto, 'Noto Sans', sans-serif",
  fontFamilyMonospace:
    "ui-monospace, SFMono-Regular, Menlo, Consolas, 'DejaVu Sans Mono', monospace",
  fontSizes: { xs: "12px", sm: "13px", md: "14px", lg: "16px", xl: "20px" },
  lineHeights: { xs: "1.4", sm: "1.45", md: "1.5", lg: "1.45", xl: "1.3" },
  spacing: { xs: "4px", sm: "8px", md: "12px", lg: "16px", xl: "24px" },
  radius: { xs: "3px", sm: "5px", md: "8px", lg: "12px", xl: "16px" },
  headings: {
    fontWeight: "600",
    sizes: {
      h1: { fontSize: "20px" },
      h2: { fontSize: "16px" },
      h3: { fontSize: "14px" },
      h4: { fontSize: "13px" },
      h5: { fontSize: "13px" },
      h6: { fontSize: "12px" },
    },
  },
  components: {
    Button: Button.extend({
      defaultProps: { size: "xs", fw: 500 },
      vars: (_, { size }) => ({
        root: size === "compact-xs" ? { "--button-height": SMALLEST_TARGET } : {},
      }),
    }),
    TextInput: small,
    // Testers send numbers out of bounds on purpose, so they are not corrected.
    NumberInput: { defaultProps: { size: "xs", clampBehavior: "none" } },
    Select: small,
    MultiSelect: small,
    Textarea: small,
    PasswordInput: small,
    Autocomplete: small,
    TagsInput: small,
    Checkbox: small,
    Switch: small,
    SegmentedControl: small,
    Radio: small,
    FileInput: small,
    JsonInput: small,
    Fieldset: { defaultProps: { p: "sm" } },
    ActionIcon: ActionIcon.extend({
      defaultProps: { size: "md", variant: "subtle", color: "gray" },
      vars: (_, { size }) => ({
        root: size === "xs" ? { "--ai-size": SMALLEST_TARGET } : {},
      }),
    }),
    // Its placeholder for the focus is no item of a menu; the first item has the focus instead.
    Menu: { defaultProps: { withInitialFocusPlaceholder: false } },
    Tooltip: { defaultProps: { openDelay: 350, withArrow: true, fz: "xs" } },
    Badge: { defaultProps: { size: "sm", radius: "sm", variant: "light", tt: "none", fw: 500 } },
    Modal: {
      defaultProps: {
        centered: true,
        closeButtonProps: { "aria-label": "Close" },
        overlayProps: { backgroundOpacity: 0.45 },
      },
    },
    Drawer: { defaultProps: { closeButtonProps: { "aria-label": "Close" } } },
    Notification: {
      defaultProps: { closeButtonProps: { "aria-label": "Close" } },
      // The grey that Mantine takes beneath a title misses AA.
      styles: { description: { color: "var(--ink-2)" } },
    },
  },
});

// Mantine's own dim grey and some tinted texts miss AA on tinted backgrounds.
export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: {
    "--mantine-color-dimmed": "#5a6470",
    "--mantine-color-placeholder": "#6b7480",
    "--mantine-color-error": "#b42525",
    "--mantine-color-anchor": "#0d5e66",
    "--mantine-color-lens-light-color": "#0d5e66",
    "--mantine-color-gray-light-color": "#3f4852",
    "--mantine-color-red-light-color": "#a11d1d",
    "--mantine-color-yellow-light-color": "#7a4f00",
    "--mantine-color-orange-light-color": "#8f3d00",
    "--mantine-color-green-light-color": "#1c6a2c",
    "--mantine-color-blue-light-color": "#1556a0",
    "--mantine-color-violet-light-color": "#5b36b8",
  },
  dark: {
    "--mantine-color-dimmed": "#9aa4b2",
    "--mantine-color-placeholder": "#8d97a5",
    "--mantine-color-error": "#ff9a94",
    "--mantine-color-anchor": "#76bcc1",
    "--mantine-color-lens-light-color": "#8fd0d5",
    "--mantine-color-gray-light": "#2d343d",
    "--mantine-color-gray-light-color": "#c3cad3",
    "--mantine-color-red-light-color": "#ffb0ab",
    "--mantine-color-yellow-light-color": "#ffd98a",
    "--mantine-color-orange-light-color": "#ffc08f",
    "--mantine-color-green-light-color": "#9be0a8",
    "--mantine-color-blue-light-color": "#a3cdff",
    "--mantine-color-violet-light-color": "#cdbbff",
  },
});
