import { WEB_PROTOCOLS, integer, list, text, url } from './declaration.js';

export const STORAGE = {
  DATA_DIR: text({
    values: 'path of a folder',
    default: './data',
    description:
      'Usage journal, generated secrets, and the embedded database and files if they are used. ' +
      'Must outlive the container; one per replica.',
  }),
  DATABASE_URL: url({
    protocols: ['postgres:', 'postgresql:'],
    defaultText: 'an embedded PostgreSQL under `$DATA_DIR/postgres`',
    description: '[PostgreSQL](deployment.md#postgresql) 15 or newer. Names one host, the primary.',
  }),
  DATABASE_POOL_SIZE: integer({
    default: 20, // fewer than 10 starve 16 clients
    min: 5,
    max: 500,
    description:
      'Connections of a replica to PostgreSQL. Five further connections are ' +
      '[used by the proxy and for messages between replicas](deployment.md#other-platforms).',
  }),
  USAGE_DATABASE_URL: url({
    protocols: ['postgres:', 'postgresql:'],
    defaultText: 'all queries go to `DATABASE_URL`',
    description:
      'A standby of the PostgreSQL of `DATABASE_URL`, for [queries of usage](deployment.md#a-standby-for-usage). ' +
      'Only with `DATABASE_URL`.',
  }),
  MINIO_ENDPOINT: url({
    protocols: WEB_PROTOCOLS,
    defaultText: 'files under `$DATA_DIR/objects`',
    description: 'MinIO or another S3 service: scheme, host and port only.',
  }),
  MINIO_ACCESS_KEY: text({
    values: 'text',
    description: 'Required with `MINIO_ENDPOINT`, and only then allowed.',
  }),
  MINIO_SECRET_KEY: text({
    values: 'text',
    description: 'Required with `MINIO_ENDPOINT`, and only then allowed.',
  }),
  MINIO_BUCKET: text({
    values: 'name of a bucket',
    // Rules of S3: no two dots in a row, and no IPv4 address.
    pattern: /^(?!.*\.\.)(?!\d+\.\d+\.\d+\.\d+$)[a-z0-9][a-z0-9.-]{1,61}[a-z0-9]$/,
    problem: 'must be a bucket name',
    default: 'mintkeep',
    description:
      'Bucket for the bodies of documents. A missing bucket is created. ' +
      '[Each system needs its own](backup-and-restore.md#one-system-one-bucket). Only with `MINIO_ENDPOINT`.',
  }),
  MINIO_REGION: text({
    values: 'text',
    default: 'us-east-1',
    description: 'Region of the S3 service. Only with `MINIO_ENDPOINT`.',
  }),
  ENCRYPTION_KEYS: list({
    values: 'base64 of 32 bytes each (`openssl rand -base64 32`)',
    defaultText: 'generated once under `$DATA_DIR/secrets`',
    description:
      'Keys for the API keys of upstreams, and for codes and forms. The first one encrypts, all decrypt. ' +
      'Required with `DATABASE_URL` and in production.',
  }),
};
