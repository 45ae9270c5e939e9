import { findCaseCollation } from '@recordbus/query';
import type { OwnersDeps } from '@recordbus/webhook-owners';
import type { LeasedDelivery } from '../delivery/claim.ts';
import { findOwnedMatches, type OwnedMatch } from '../fan-out/match-owned.ts';
import type { IncomingEvent, ReceivedEvent } from '../fan-out/read-message.ts';
import { endOwned } from './end-owned.ts';
import { fanOutToOwners } from './fan-out-owners.ts';
import { recheckOwned } from './recheck-owned.ts';

/** The webhooks that records own. Where no collection's records may own any, nothing here runs a statement. */
export interface Owners {
  start(): Promise<void>;
  /** Finds the owners' webhooks that events may concern. */
  findMatches(events: readonly ReceivedEvent[]): Promise<readonly OwnedMatch[]>;
  /** Creates the deliveries that the collections' rules admit, and returns how many are new. */
  fanOut(events: readonly IncomingEvent[], matches: readonly OwnedMatch[]): Promise<number>;
  /** Deletes the webhooks of deleted owners. */
  end(events: readonly ReceivedEvent[]): Promise<void>;
  /** Returns the leased deliveries that may be sent, and deletes the others. */
  recheck(claims: readonly LeasedDelivery[]): Promise<readonly LeasedDelivery[]>;
}

type Given = Omit<OwnersDeps, 'settings' | 'collation'> & {
  readonly readLife: () => Promise<number>;
  readonly settings: OwnersDeps['settings'] & { namesOf(family: 'webhooks.owners.<collection>'): readonly string[] };
};

/** Creates the object. */
export function createOwners({ settings, readLife, ...given }: Given): Owners {
  let collation: string | undefined;
  const deps: OwnersDeps = { ...given, settings, collation: () => collation };
  const names = () => settings.namesOf('webhooks.owners.<collection>');
  return {
    async start() {
      collation = await findCaseCollation(deps.query);
    },
    findMatches: async (events) => (names().length === 0 ? [] : findOwnedMatches(deps.query, events)),
    fanOut: (events, matches) => fanOutToOwners({ ...deps, readLife }, events, matches),
    end: async (events) => {
      const owners = new Set(names());
      if (owners.size > 0) await endOwned(deps.query, events, (name) => owners.has(name));
    },
    recheck: (claims) => recheckOwned(deps, claims),
  };
}
