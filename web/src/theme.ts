// Hands the scales and colours of tokens.css to Mantine. Controls are small by default, since the
// screens are dense.
import {
  ActionIcon,
  Badge,
  Button,
  Checkbox,
  type CSSVariablesResolver,
  createTheme,
  defaultVariantColorsResolver,
  Input,
  type MantineColorsTuple,
  type MantineThemeOverride,
  type VariantColorsResolver,
} from "@mantine/core";

// Shades between the accents of the two themes, for what Mantine mixes itself.
const lens: MantineColorsTuple = [
  "#e2f1f1",
  "#cfe6e7",
  "#a3d5d7",
  "#79c7ca",
  "#4fb9bd",
  "#2f9a9f",
  "#1c8186",
  "#0f6b70",
  "#0b575b",
  "#074246",
];
// As tokens.css has them: text, quiet, faint, lines, raised, page, panel.
const dark: MantineColorsTuple = [
  "#e8ebed",
  "#c5ccd2",
  "#a5afb8",
  "#8c97a1",
  "#3a424a",
  "#2b3137",
  "#22272c",
  "#14171a",
  "#1a1e22",
  "#0f1214",
];

/** Buttons and badges of the two colours that fill: the accent, and red for what destroys. */
const variantColorResolver: VariantColorsResolver = (input) => {
  const resolved = defaultVariantColorsResolver(input);
  if (input.variant !== "filled") return resolved;
  const color = input.color ?? "lens";
  if (color === "lens")
    return {
      ...resolved,
      background: "var(--accent)",
      hover: "var(--accent-hover)",
      color: "var(--on-accent)",
    };
  if (color === "red")
    return {
      ...resolved,
      background: "var(--bad)",
      hover: "var(--bad-ink)",
      color: "var(--on-bad)",
    };
  return resolved;
};

// Minimum target size (WCAG 2.2, 2.5.8).
const SMALLEST_TARGET = "24px";
const small = { defaultProps: { size: "xs" } };

export const theme: MantineThemeOverride = createTheme({
  primaryColor: "lens",
  primaryShade: { light: 7, dark: 4 },
  colors: { lens, dark },
  variantColorResolver,
  defaultRadius: "sm",
  cursorType: "pointer",
  respectReducedMotion: true,
  fontFamily: "var(--sans)",
  fontFamilyMonospace: "var(--mono)",
  fontSizes: {
    xs: "var(--text-table)",
    sm: "var(--text-body)",
    md: "var(--text-body)",
    lg: "var(--text-section)",
    xl: "var(--text-title)",
  },
  lineHeights: {
    xs: "var(--leading-table)",
    sm: "var(--leading)",
    md: "var(--leading)",
    lg: "var(--leading)",
    xl: "var(--leading-table)",
  },
  spacing: {
    xs: "var(--space-1)",
    sm: "var(--space-2)",
    md: "var(--space-3)",
    lg: "var(--space-4)",
    xl: "var(--space-5)",
  },
  radius: {
    xs: "var(--radius-mark)",
    sm: "var(--radius-control)",
    md: "var(--radius-panel)",
    lg: "var(--radius-panel)",
    xl: "var(--radius-panel)",
  },
  shadows: {
    xs: "none",
    sm: "var(--shadow)",
    md: "var(--shadow)",
    lg: "var(--shadow)",
    xl: "var(--shadow)",
  },
  headings: {
    fontWeight: "600",
    sizes: {
      h1: { fontSize: "var(--text-title)" },
      h2: { fontSize: "var(--text-section)" },
      h3: { fontSize: "var(--text-body)" },
      h4: { fontSize: "var(--text-body)" },
      h5: { fontSize: "var(--text-body)" },
      h6: { fontSize: "var(--text-table)" },
    },
  },
  components: {
    Button: Button.extend({
      defaultProps: { size: "xs", fw: 500 },
      vars: (_, { size }) => ({
        root:
          size === "compact-xs"
            ? { "--button-height": SMALLEST_TARGET }
            : size === "xs"
              ? { "--button-height": "var(--control)", "--button-fz": "var(--text-body)" }
              : {},
      }),
    }),
    Input: Input.extend({
      vars: (_, { size }) => ({
        wrapper:
          size === "xs"
            ? { "--input-height": "var(--control)", "--input-fz": "var(--text-body)" }
            : {},
      }),
    }),
    InputWrapper: Input.Wrapper.extend({
      vars: (_, { size }) => ({
        label: size === "xs" ? { "--input-label-size": "var(--text-body)" } : {},
        error: { "--input-error-size": "var(--text-table)" },
        description: { "--input-description-size": "var(--text-table)" },
        success: {},
      }),
    }),
    TextInput: small,
    // Testers send numbers out of bounds on purpose, so they are not corrected.
    Select: small,
    MultiSelect: small,
    Textarea: small,
    PasswordInput: small,
    Autocomplete: small,
    TagsInput: small,
    Checkbox: Checkbox.extend({
      defaultProps: { size: "xs", radius: "xs", iconColor: "var(--on-accent)" },
    }),
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
    Badge: Badge.extend({
      defaultProps: { size: "sm", radius: "sm", variant: "light", tt: "none", fw: 500 },
      vars: () => ({ root: { "--badge-fz": "var(--text-meta)" } }),
    }),
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

/** A colour of Mantine's in its light variant. */
const light = (name: string, ground: string, ink: string): Record<string, string> => ({
  [`--mantine-color-${name}-light`]: ground,
  [`--mantine-color-${name}-light-hover`]: ground,
  [`--mantine-color-${name}-light-color`]: ink,
});

const COLORS: Record<string, string> = {
  "--mantine-color-body": "var(--surface)",
  "--mantine-color-text": "var(--ink)",
  "--mantine-color-dimmed": "var(--ink-2)",
  "--mantine-color-placeholder": "var(--ink-3)",
  "--mantine-color-error": "var(--bad)",
  // On what floats, Mantine's own would be the ground itself.
  "--mantine-color-disabled": "var(--line)",
  "--mantine-color-disabled-color": "var(--ink-3)",
  "--mantine-color-anchor": "var(--accent)",
  "--mantine-color-default": "var(--raised)",
  "--mantine-color-default-hover": "var(--hover)",
  "--mantine-color-default-color": "var(--ink)",
  "--mantine-color-default-border": "var(--line-strong)",
  "--mantine-color-lens-filled": "var(--accent)",
  "--mantine-color-lens-filled-hover": "var(--accent-hover)",
  "--mantine-color-lens-outline": "var(--accent)",
  "--mantine-color-red-filled": "var(--bad)",
  "--mantine-color-red-outline": "var(--bad)",
  ...light("lens", "var(--chosen)", "var(--chosen-ink)"),
  ...light("gray", "var(--surface-3)", "var(--ink-2)"),
  ...light("red", "var(--bad-soft)", "var(--bad-ink)"),
  ...light("yellow", "var(--wait-soft)", "var(--wait-ink)"),
  ...light("orange", "var(--attention-soft)", "var(--attention)"),
  ...light("green", "var(--good-soft)", "var(--good-ink)"),
  "--mantine-color-blue-light-color": "var(--out)",
  "--mantine-color-violet-light-color": "var(--in)",
};

/** Mantine's semantic colours: the same names in both themes, which tokens.css fills. */
export const variables: CSSVariablesResolver = () => ({
  variables: {},
  light: COLORS,
  dark: COLORS,
});
