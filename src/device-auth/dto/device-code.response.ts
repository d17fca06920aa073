export class DeviceCodeResponse {
  /** The secret to poll with. */
  device_code: string;
  /** What the person compares or types: `XXXX-XXXX`. */
  user_code: string;
  verification_uri: string;
  /** The same with the code in it. */
  verification_uri_complete: string;
  /** Seconds. */
  expires_in: number;
  /** Seconds between two polls. */
  interval: number;
}

/** The key is shown here and never again. */
export class DeviceKeyResponse {
  api_key: string;
  /** Unix time in milliseconds. */
  issued_at_ms: number;
}
