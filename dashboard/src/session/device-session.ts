/**
 * Sets the cookie that the device flow's approval page reads.
 * @returns whether the service accepted the session
 */
export async function openDeviceSession(token: string): Promise<boolean> {
  const headers = { Authorization: `Bearer ${token}` };
  const response = await fetch('/auth/session', { method: 'POST', headers }).catch(() => undefined);
  return response?.ok ?? false;
}

/** Removes the cookie. */
export async function closeDeviceSession(): Promise<void> {
  await fetch('/auth/session', { method: 'DELETE' }).catch(() => undefined);
}
