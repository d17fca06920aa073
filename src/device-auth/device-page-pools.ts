import { NAME_MAX_CODE_POINTS } from '../common/fields.js';
import { html } from '../common/html.js';
import type { Html } from '../common/html.js';
import { toShownName } from '../common/shown-name.js';
import type { OrganizationResponse } from '../organizations/dto/organization.response.js';

/** More pools than this are offered as a list to unfold. */
const POOLS_IN_SIGHT = 6;

/** Which pool the key will use. The personal one is first, and chosen unless somebody chooses. */
export function pools(organizations: OrganizationResponse[]): Html {
  const personal = organizations.filter(({ kind }) => kind === 'personal');
  const all = [...personal, ...organizations.filter(({ kind }) => kind === 'team')];
  if (all.length > POOLS_IN_SIGHT)
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

/** Names are not unique, slugs are. Without what would turn the order of the words about, or show nothing. */
export function poolName({ kind, name, slug }: OrganizationResponse): string {
  if (kind === 'personal') return 'Personal';
  return `${toShownName(name, NAME_MAX_CODE_POINTS) ?? slug} (team ${slug})`;
}
