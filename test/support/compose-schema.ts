/**
 * Schema of the members of the Compose Specification that the file uses: a misspelt member is an error. Written
 * after https://github.com/compose-spec/compose-spec/blob/main/05-services.md and its neighbours.
 */
const strings = { type: 'array', items: { type: 'string' }, minItems: 1, uniqueItems: true };
const duration = { type: 'string', pattern: '^(\\d+(h|m|s|ms|us))+$' };

const object = (properties: object, ...required: string[]) => ({
  ...{ type: 'object', additionalProperties: false, properties, required },
});
const named = (schema: object) => ({
  type: 'object',
  propertyNames: { pattern: '^[a-zA-Z0-9._-]+$' },
  additionalProperties: schema,
});

const service = {
  ...object({
    build: { type: 'string' },
    image: { type: 'string' },
    init: { type: 'boolean' },
    read_only: { type: 'boolean' },
    cap_drop: strings,
    security_opt: strings,
    tmpfs: strings,
    restart: { enum: ['no', 'always', 'on-failure', 'unless-stopped'] },
    stop_grace_period: duration,
    stop_signal: { type: 'string', pattern: '^SIG[A-Z0-9]+$' },
    depends_on: named(object({ condition: { enum: ['service_started', 'service_healthy'] } }, 'condition')),
    environment: named({ type: ['string', 'number'] }),
    command: strings,
    configs: {
      type: 'array',
      items: object({ source: { type: 'string' }, target: { type: 'string', pattern: '^/' } }, 'source'),
    },
    volumes: { ...strings, items: { type: 'string', pattern: '^[a-z0-9-]+:/[^:]*$' } },
    ports: { ...strings, items: { type: 'string', pattern: '^(\\d+(\\.\\d+){3}:)?\\d+:\\d+$' } },
    networks: {
      oneOf: [strings, named(object({ ipv4_address: { type: 'string', format: 'ipv4' } }))],
    },
    healthcheck: object({
      test: { ...strings, contains: { const: 'CMD' } },
      ...{ interval: duration, timeout: duration, start_period: duration },
      retries: { type: 'integer' },
    }),
  }),
  anyOf: [{ required: ['image'] }, { required: ['build'] }],
};

export const COMPOSE_SCHEMA = {
  ...object({
    name: { type: 'string', pattern: '^[a-z0-9][a-z0-9_-]*$' },
    services: named(service),
    configs: named(object({ content: { type: 'string' } }, 'content')),
    networks: named(
      object({
        internal: { type: 'boolean' },
        ipam: object({
          config: { type: 'array', items: object({ subnet: { type: 'string', pattern: '^[\\d.]+/\\d+$' } }) },
        }),
      }),
    ),
    volumes: named(object({})),
  }),
  patternProperties: { '^x-': {} },
};
