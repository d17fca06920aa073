/** Editor and preview side by side, or one of them alone. */
export type ViewMode = 'split' | 'edit' | 'preview';

const MODES: readonly string[] = ['split', 'edit', 'preview'] satisfies ViewMode[];

/**
 * Reads the mode of the URL.
 * @param isNarrow whether there is no room for two sides
 * @param mayWrite readers see the preview first
 */
export function parseView(value: string | undefined, isNarrow: boolean, mayWrite: boolean): ViewMode {
  const fallback: ViewMode = !mayWrite ? 'preview' : isNarrow ? 'edit' : 'split';
  const mode = value !== undefined && MODES.includes(value) ? (value as ViewMode) : fallback;
  return isNarrow && mode === 'split' ? 'edit' : mode;
}
