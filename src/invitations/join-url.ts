import type { Settings } from '../config/settings.js';

/** Where the dashboard takes the token of an invitation. */
export function joinUrl({ dashboardUrl }: Pick<Settings, 'dashboardUrl'>, token: string): string {
  return `${dashboardUrl}/join?token=${token}`;
}
