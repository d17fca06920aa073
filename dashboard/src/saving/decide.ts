/** Three versions of one text. */
export interface Versions {
  /** Last version that the editor and the service had in common. */
  readonly base: string;
  /** Text in the editor. */
  readonly own: string;
  /** Text on the service. */
  readonly server: string;
}

/**
 * - `in-sync`: the service has the text of the editor.
 * - `save`: only the editor's text has changed.
 * - `take-server`: only the service's text has changed.
 * - `merge`: both have changed, and a person has to decide.
 */
export type Decision = 'in-sync' | 'save' | 'take-server' | 'merge';

/** Decides how the editor and the service get the same text again. */
export function decide({ base, own, server }: Versions): Decision {
  if (own === server) return 'in-sync';
  if (server === base) return 'save';
  return own === base ? 'take-server' : 'merge';
}
