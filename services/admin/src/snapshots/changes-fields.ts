import { isDeepStrictEqual } from 'node:util';
import { startSlice } from '@recordbus/limits/time-slice';
import { type Collection, createProblems, readFieldDefinitions } from '@recordbus/schema';
import { listOfFields, mergeFields } from './merge-fields.ts';
import type { SnapshotCollection } from './snapshot-document.ts';

/** Whether a draft changes its collection's fields. Runs in time slices. */
export async function changesFieldsOfAny(
  collections: readonly Collection[],
  drafts: readonly SnapshotCollection[],
): Promise<boolean> {
  const slice = startSlice();
  for (const draft of drafts) {
    if (slice.isOver()) await slice.pause();
    if (changesFields(collections, draft)) return true;
  }
  return false;
}

/** Whether the draft changes an existing collection's fields. Problems are reported when they are applied. */
function changesFields(collections: readonly Collection[], draft: SnapshotCollection): boolean {
  const existing = collections.find(({ name }) => name === draft.name);
  const fields = listOfFields(draft.fields);
  if (!existing || typeof fields === 'string') return false;
  const planned = readFieldDefinitions(
    mergeFields(existing.fields, fields),
    {
      collectionType: existing.type,
      previous: existing.fields,
      // Targets are validated when the fields are applied.
      findCollection: (name) => ({ name, type: 'base' }),
    },
    createProblems(),
  );
  return !isDeepStrictEqual(planned, existing.fields);
}
