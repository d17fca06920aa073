import { UsersAndOrganizations1763700000000 } from './1763700000000-users-and-organizations.js';
import { Projects1763700100000 } from './1763700100000-projects.js';
import { Documents1763700200000 } from './1763700200000-documents.js';
import { Teams1763800000000 } from './1763800000000-teams.js';
import { Invitations1763800100000 } from './1763800100000-invitations.js';
import { Upstreams1763900000000 } from './1763900000000-upstreams.js';
import { Keys1763900100000 } from './1763900100000-keys.js';
import { DeviceSessions1764000000000 } from './1764000000000-device-sessions.js';
import { UsageRecords1764100000000 } from './1764100000000-usage-records.js';
import { UsageRollups1764100100000 } from './1764100100000-usage-rollups.js';
import { Jobs1764200000000 } from './1764200000000-jobs.js';
import { UsageWriteCosts1764300000000 } from './1764300000000-usage-write-costs.js';
import { ChosenProviders1764400000000 } from './1764400000000-chosen-providers.js';
import { AuditEventOrder1764500000000 } from './1764500000000-audit-event-order.js';
import { DeviceSessionPurge1764500100000 } from './1764500100000-device-session-purge.js';
import { UserAddresses1764500200000 } from './1764500200000-user-addresses.js';
import { KeyUseRoom1764500300000 } from './1764500300000-key-use-room.js';
import { SystemIdentity1764500400000 } from './1764500400000-system-identity.js';

/** All migrations, oldest first. */
export const migrations = [
  UsersAndOrganizations1763700000000,
  Projects1763700100000,
  Documents1763700200000,
  Teams1763800000000,
  Invitations1763800100000,
  Upstreams1763900000000,
  Keys1763900100000,
  DeviceSessions1764000000000,
  UsageRecords1764100000000,
  UsageRollups1764100100000,
  Jobs1764200000000,
  UsageWriteCosts1764300000000,
  ChosenProviders1764400000000,
  AuditEventOrder1764500000000,
  DeviceSessionPurge1764500100000,
  UserAddresses1764500200000,
  KeyUseRoom1764500300000,
  SystemIdentity1764500400000,
];
