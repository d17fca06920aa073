import { Buffer } from 'node:buffer';
import type { IncomingMessage } from 'node:http';
import { Client } from 'minio';
import type { ClientOptions } from 'minio';
import type { MinioSettings } from '../config/settings.js';
import { ObjectStore } from './object-store.js';
import { S3Transport } from './s3-transport.js';

const LIST_PAGE_KEYS = 1_000;

/** Stores objects in a bucket of MinIO or another S3 service. */
export class MinioObjectStore extends ObjectStore {
  private readonly transport: S3Transport;
  private readonly client: Client;
  private readonly bucket: string;
  /** Passed to the client, which otherwise first asks the store for the bucket's region. */
  private readonly region: string;

  constructor(settings: MinioSettings, timeoutMs?: number) {
    super(timeoutMs);
    this.bucket = settings.bucket;
    this.region = settings.region;
    this.transport = new S3Transport(settings.endpoint.protocol === 'https:');
    this.client = new Client(clientOptions(settings, this.region, this.transport));
  }

  protected override async putObject(key: string, body: Buffer, signal: AbortSignal): Promise<void> {
    const put = () => this.client.putObject(this.bucket, key, body, body.length);
    const { etag } = await this.transport.run(signal, put);
    if (!etag) throw new Error('the response has no ETag: MINIO_ENDPOINT is not an S3 service');
  }

  protected override async getObject(key: string, signal: AbortSignal): Promise<Buffer | undefined> {
    try {
      const response = await this.transport.run(signal, () => this.client.getObject(this.bucket, key));
      return await readBody(response as IncomingMessage);
    } catch (error) {
      if (codeOf(error) === 'NoSuchKey') return undefined;
      throw error;
    }
  }

  protected override async deleteObject(key: string, signal: AbortSignal): Promise<void> {
    try {
      await this.transport.run(signal, () => this.client.removeObject(this.bucket, key));
    } catch (error) {
      // S3 and MinIO respond with 204 for an absent key; some compatible services respond with NoSuchKey.
      if (codeOf(error) !== 'NoSuchKey') throw error;
    }
  }

  /** Continues after the last key instead of with the store's token: the client parses a token of digits as a number. */
  protected override async *listObjects(prefix: string, signal: AbortSignal): AsyncIterable<string> {
    for (let after: string | undefined = ''; after !== undefined;) {
      const { keys, isTruncated } = await this.listPage(prefix, after, signal);
      yield* keys;
      after = isTruncated ? keys.at(-1) : undefined;
    }
  }

  protected override async checkStore(signal: AbortSignal): Promise<void> {
    if (!(await this.bucketExists(signal))) throw new Error(`the bucket ${this.bucket} does not exist`);
  }

  protected override async prepareStore(signal: AbortSignal): Promise<void> {
    if (await this.bucketExists(signal)) return;
    try {
      await this.transport.run(signal, () => this.client.makeBucket(this.bucket, this.region));
    } catch (error) {
      // Another replica may have created the bucket first. Services report that with different errors.
      if (!(await this.bucketExists(signal))) throw error;
    }
  }

  private bucketExists(signal: AbortSignal): Promise<boolean> {
    return this.transport.run(signal, () => this.client.bucketExists(this.bucket));
  }

  private async listPage(prefix: string, after: string, signal: AbortSignal) {
    const { objects, isTruncated } = await this.transport.run(signal, () =>
      this.client.listObjectsV2Query(this.bucket, prefix, '', '', LIST_PAGE_KEYS, after),
    );
    return { keys: objects.flatMap(({ name }) => name ?? []), isTruncated };
  }
}

function clientOptions(settings: MinioSettings, region: string, transport: S3Transport): ClientOptions {
  const { hostname, port, protocol } = settings.endpoint;
  const request = transport.request.bind(transport) as NonNullable<ClientOptions['transport']>['request'];
  return {
    endPoint: hostname.replace(/^\[|\]$/g, ''), // without the brackets of an IPv6 address
    port: port === '' ? undefined : Number(port),
    useSSL: protocol === 'https:',
    accessKey: settings.accessKey,
    secretKey: settings.secretKey,
    region,
    pathStyle: true,
    transport: { request },
    transportAgent: transport.agent,
    // The client's own retries ignore the deadline and write to the console.
    retryOptions: { disableRetry: true },
  };
}

/** Reads the whole body. @throws Error when the connection ended before the body did */
async function readBody(response: IncomingMessage): Promise<Buffer> {
  const chunks: Buffer[] = [];
  for await (const chunk of response) chunks.push(chunk as Buffer);
  const body = Buffer.concat(chunks);
  const { 'content-length': length, 'transfer-encoding': encoding } = response.headers;
  const delimited = length === undefined ? encoding !== undefined : Number(length) === body.length;
  if (!response.complete || !delimited) throw new Error(`the response ended after ${body.length} bytes`);
  return body;
}

function codeOf(error: unknown): string | undefined {
  return (error as { code?: string }).code;
}
