import open from 'open';

/**
 * Opens the browser of the user; does nothing if there is none. The address was printed before, so failures are silent.
 * Only web addresses are opened, because a server chooses the address.
 */
export async function openBrowser(address: string): Promise<void> {
  if (!hasBrowser() || !isWebAddress(address)) return;
  try {
    const browser = await open(address);
    browser.on('error', () => undefined);
  } catch {
    return;
  }
}

/** Whether a browser could show a window to the user. */
function hasBrowser(): boolean {
  const { BROWSER, DISPLAY, WAYLAND_DISPLAY, WSL_DISTRO_NAME, SSH_CONNECTION } = process.env;
  if (process.platform === 'darwin' || process.platform === 'win32') return !SSH_CONNECTION;
  return [BROWSER, DISPLAY, WAYLAND_DISPLAY, WSL_DISTRO_NAME].some((value) => (value ?? '') !== '');
}

function isWebAddress(address: string): boolean {
  return URL.canParse(address) && /^https?:$/.test(new URL(address).protocol);
}
