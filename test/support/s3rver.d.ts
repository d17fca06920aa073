/** The part of s3rver that {@link startS3} uses; the package has no types. */
declare module 's3rver' {
  import type { Server } from 'node:http';
  import type { AddressInfo } from 'node:net';
  import type { Readable } from 'node:stream';

  export interface S3Object {
    readonly bucket: string;
    readonly key: string;
    content: Readable | Buffer;
  }

  /** Its methods may be replaced: the server looks them up on every request. */
  export interface S3Files {
    putObject(object: S3Object): Promise<unknown>;
    getObject(bucket: string, key: string, options?: object): Promise<unknown>;
    deleteObject(bucket: string, key: string): Promise<void>;
    listObjects(bucket: string, options: object): Promise<unknown>;
    getResourcePath(bucket: string, key: string, resource: 'object'): string;
    putMetadata(bucket: string, key: string, metadata: object, md5: string): Promise<void>;
  }

  export default class S3rver {
    constructor(options: {
      address?: string;
      port?: number;
      directory?: string;
      silent?: boolean;
      vhostBuckets?: boolean;
    });
    readonly store: S3Files;
    readonly httpServer: Server;
    run(): Promise<AddressInfo>;
    close(): Promise<void>;
  }
}
