import { createTheme } from '@mantine/core';
import type { CSSVariablesResolver, MantineColorsTuple } from '@mantine/core';

const MINT: MantineColorsTuple = [
  '#e9f9f1',
  '#d3f0e2',
  '#a6e1c5',
  '#75d1a6',
  '#4ec38c',
  '#35b97b',
  '#1b8055',
  '#17664b',
  '#12553e',
  '#0b4230',
];

/** Mantine's red with darker shades for texts and buttons. */
const RED: MantineColorsTuple = [
  '#fff5f5',
  '#ffe3e3',
  '#ffc9c9',
  '#ffa8a8',
  '#ff8787',
  '#ff6b6b',
  '#d63031',
  '#c92a2a',
  '#b32424',
  '#9c1f1f',
];

/** Look of all components. The primary shades have a contrast of at least 4.5 in both themes. */
export const theme = createTheme({
  primaryColor: 'mint',
  primaryShade: { light: 7, dark: 6 },
  autoContrast: true,
  colors: { mint: MINT, red: RED },
  defaultRadius: 'md',
  cursorType: 'pointer',
  respectReducedMotion: true,
  fontFamily: 'Inter, system-ui, -apple-system, "Segoe UI", Roboto, "Helvetica Neue", sans-serif',
  fontFamilyMonospace: 'ui-monospace, SFMono-Regular, Menlo, Consolas, "Liberation Mono", monospace',
  components: {
    ModalCloseButton: { defaultProps: { 'aria-label': 'Close' } },
    Notification: { defaultProps: { closeButtonProps: { 'aria-label': 'Close' } } },
  },
  headings: { fontWeight: '650', sizes: { h1: { fontSize: '1.5rem' }, h2: { fontSize: '1.15rem' } } },
});

/** Text of less weight, with a contrast of at least 4.5. Mantine's own has less. */
export const cssVariables: CSSVariablesResolver = () => ({
  variables: {},
  light: { '--mantine-color-dimmed': '#5d6863', '--mantine-color-error': '#c92a2a' },
  dark: { '--mantine-color-dimmed': '#a2aaa6', '--mantine-color-error': '#ff8787' },
});
