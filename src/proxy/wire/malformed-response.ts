/** Thrown when the bytes are not a response in HTTP/1.1, or when its headers exceed the limits. */
export class MalformedResponse extends Error {}
