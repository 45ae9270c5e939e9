import type { ShownRecord } from '@recordbus/live';
import { createFrame, type Frame } from './frame.ts';
import { createKeptFrames } from './kept-frames.ts';

/** What a change is for one subscription. */
export type ChangeKind = 'create' | 'update' | 'enter' | 'delete' | 'leave';

interface ChangeFrames {
  /** Returns the message for a subscription with this id; `shown` for the kinds that have the record. */
  of(sub: string, kind: ChangeKind, shown: ShownRecord | undefined): Frame;
}

interface ToldChange {
  readonly cursor: string;
  readonly recordId: string;
  /** The record's version after it. */
  readonly version: string;
}

/**
 * Creates one change's messages. Subscriptions with the same id that see the same record get the same bytes, so ten
 * thousand cost one serialisation.
 */
export function createChangeFrames({ cursor, recordId, version }: ToldChange): ChangeFrames {
  const kept = createKeptFrames();

  const head = (sub: string) =>
    `{"sub":${JSON.stringify(sub)},"cursor":"${cursor}","version":${JSON.stringify(version)}`;

  const compose = (sub: string, kind: ChangeKind, shown: ShownRecord | undefined): Frame => {
    if (!shown) return createFrame(kind, `${head(sub)},"id":${JSON.stringify(recordId)}}`);
    const changed = kind === 'update' && shown.changed ? `,"changed":${JSON.stringify(shown.changed)}` : '';
    return createFrame(kind, `${head(sub)},"record":${shown.json}${changed}}`);
  };

  return {
    of: (sub, kind, shown) => kept.of(shown ?? kept, `${kind} ${sub}`, () => compose(sub, kind, shown)),
  };
}
