import { NAME_MAX_CODE_POINTS } from '../../common/body/fields.js';
import { html } from '../../common/pages/html.js';
import type { Html } from '../../common/pages/html.js';
import { toDisplayName } from '../../common/text/display-name.js';
import type { OrganizationResponse } from '../../organizations/dto/organization.response.js';

/** More pools than this are shown as a drop-down list. */
const MAX_RADIO_BUTTONS = 6;

/** Choice of the pool that the key will use. The personal pool is first and selected by default. */
export function poolChoice(organizations: OrganizationResponse[]): Html {
  const personal = organizations.filter(({ kind }) => kind === 'personal');
  const all = [...personal, ...organizations.filter(({ kind }) => kind === 'team')];
  if (all.length > MAX_RADIO_BUTTONS)
    return html`<label for="organization_id">Which upstreams may it use?</label>
      <select id="organization_id" name="organization_id">
        ${all.map((pool) => html`<option value="${pool.id}">${poolName(pool)}</option>`)}
      </select>`;
  return html`<fieldset>
    <legend>Which upstreams may it use?</legend>
    ${all.map(
      (pool, i) =>
        html`<label class="option">
          <input type="radio" name="organization_id" value="${pool.id}" ${i === 0 && html`checked`} />
          <span>${poolName(pool)}</span>
        </label>`,
    )}
  </fieldset>`;
}

/**
 * Name and slug, because names are not unique. Characters that reverse the text direction or are invisible are removed.
 */
export function poolName({ kind, name, slug }: OrganizationResponse): string {
  if (kind === 'personal') return 'Personal';
  return `${toDisplayName(name, NAME_MAX_CODE_POINTS) ?? slug} (team ${slug})`;
}
