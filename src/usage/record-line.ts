import type { UpstreamAttempt, UsageRecord } from './usage-record.js';

/**
 * A record as a line of JSON in ASCII, with the members in the order of {@link UsageRecord}. Written out, because
 * it is done for every request: `JSON.stringify` takes twice as long. Ids, times and words of ours stand as they are.
 */
export function recordLine(record: UsageRecord): string {
  return (
    `{"id":"${record.id}","request_id":"${record.request_id}","at":"${record.at}",` +
    `"organization_id":${record.organization_id},"user_id":${text(record.user_id)},"key_id":${record.key_id},` +
    `"upstream_id":${record.upstream_id},"upstream_name":${text(record.upstream_name)},` +
    `"provider":${text(record.provider)},"method":${text(record.method)},"path":${text(record.path)},` +
    `"model":${text(record.model)},"stream":${record.stream},"status":${record.status},` +
    `"outcome":"${record.outcome}","input_tokens":${record.input_tokens},` +
    `"cached_input_tokens":${record.cached_input_tokens},"output_tokens":${record.output_tokens},` +
    `"total_tokens":${record.total_tokens},"usage_source":"${record.usage_source}",` +
    `"latency_ms":${record.latency_ms},"ttft_ms":${record.ttft_ms},"attempts":${attempts(record.attempts)}}\n`
  );
}

function attempts(list: readonly UpstreamAttempt[]): string {
  let texts = '';
  for (const { upstream_id, upstream_name, status, error, ms } of list) {
    const fields = `"upstream_id":${upstream_id},"upstream_name":${text(upstream_name)}`;
    const comma = texts === '' ? '' : ',';
    texts += `${comma}{${fields},"status":${status},"error":${text(error)},"ms":${ms}}`;
  }
  return `[${texts}]`;
}

/** Visible ASCII without quotes and backslashes stands for itself. */
const PLAIN = /^[\x20\x21\x23-\x5b\x5d-\x7e]*$/;
const BEYOND_ASCII = /[\x7f-\uffff]/g;

function text(value: string | null): string {
  if (value === null) return 'null';
  return PLAIN.test(value) ? `"${value}"` : JSON.stringify(value).replace(BEYOND_ASCII, escaped);
}

function escaped(character: string): string {
  return `\\u${character.charCodeAt(0).toString(16).padStart(4, '0')}`;
}
