import { isDeepStrictEqual } from 'node:util';
import { startSlice } from '@recordbus/limits/time-slice';
import type { Collection } from '@recordbus/schema';
import { compareFields } from '../ddl/compare-fields.ts';
import { definitionOfIndex } from '../indexes/present-indexes.ts';
import type { Change, MemberChange } from './change.ts';
import type { SchemaPlan } from './compute-plan.ts';
import { presentCollectionFile, presentFieldFile } from './present-files.ts';
import type { KeptCollection } from './target-collections.ts';

/** Returns a plan's changes in the order in which people read them (schema §3.3). Runs in time slices. */
export async function describeChanges({
  collections,
  webhooks,
  settings,
  migrations,
}: Pick<SchemaPlan, 'collections' | 'webhooks' | 'settings' | 'migrations'>): Promise<Change[]> {
  const slice = startSlice();
  const changes: Change[] = collections.created.map(({ name }) => ({ action: 'create', kind: 'collection', name }));
  for (const kept of collections.kept) {
    if (slice.isOver()) await slice.pause();
    changes.push(...changesOf(kept));
  }
  changes.push(
    ...collections.dropped.map(({ name }): Change => ({ action: 'drop', kind: 'collection', name })),
    ...webhooks.changes,
    ...settings.changes,
    ...migrations.map(({ name }): Change => ({ action: 'run', kind: 'migration', name })),
  );
  return changes;
}

function changesOf({ before, after }: KeptCollection): Change[] {
  if (before === after) return [];
  const { name } = after;
  const members = membersThatChange(before, after);
  return [
    ...(before.name === name
      ? []
      : [{ action: 'rename', kind: 'collection', name, from: before.name } satisfies Change]),
    ...(members.length > 0 ? [{ action: 'change', kind: 'collection', name, changed: members } satisfies Change] : []),
    ...(after.type === 'view' ? [] : [...fieldChanges(before, after), ...indexChanges(before, after)]),
  ];
}

/** Returns the changed members other than the name, the fields and the indexes. */
function membersThatChange(before: Collection, after: Collection): MemberChange[] {
  const [was, is] = [presentCollectionFile(before), presentCollectionFile(after)];
  // A member with its default is left out.
  const members = [...new Set([...Object.keys(was), ...Object.keys(is)])]
    .filter((member) => !['id', 'name', 'fields', 'indexes'].includes(member))
    .flatMap((member) =>
      isDeepStrictEqual(was[member], is[member])
        ? []
        : [{ member, before: was[member] ?? null, after: is[member] ?? null }],
    );
  const order = after.type === 'view' ? [] : orderThatChanges(before, after);
  return [...members, ...order];
}

/** Returns the field order, if the kept fields' order changes. */
function orderThatChanges(before: Collection, after: Collection): MemberChange[] {
  const { kept } = compareFields(before, after);
  const ids = new Set(kept.map(({ now }) => now.id));
  const namesIn = ({ fields }: Collection) =>
    fields.filter(({ id }) => ids.has(id)).map(({ id }) => after.fields.find((field) => field.id === id)?.name);
  const [was, is] = [namesIn(before), namesIn(after)];
  return isDeepStrictEqual(was, is) ? [] : [{ member: 'field order', before: was, after: is }];
}

function fieldChanges(before: Collection, after: Collection): Change[] {
  const { dropped, kept, added } = compareFields(before, after);
  const nameOf = (field: { readonly name: string }) => `${after.name}.${field.name}`;
  return [
    ...kept
      .filter(({ old, now }) => old.name !== now.name)
      .map(({ old, now }): Change => ({ action: 'rename', kind: 'field', name: nameOf(now), from: old.name })),
    ...added.map((field): Change => ({ action: 'create', kind: 'field', name: nameOf(field) })),
    ...kept.flatMap(({ old, now }): Change[] => {
      const [was, is] = [presentFieldFile(old), presentFieldFile(now)];
      const members = [...new Set([...Object.keys(was), ...Object.keys(is)])]
        .filter((member) => member !== 'name' && !isDeepStrictEqual(was[member], is[member]))
        .map((member) => ({ member, before: was[member] ?? null, after: is[member] ?? null }));
      return members.length > 0 ? [{ action: 'change', kind: 'field', name: nameOf(now), changed: members }] : [];
    }),
    ...dropped.map((field): Change => ({ action: 'drop', kind: 'field', name: nameOf(field) })),
  ];
}

/** Indexes are compared by name. An index over a dropped field is dropped with the field. */
function indexChanges(before: Collection, after: Collection): Change[] {
  const shown = (collection: Collection) =>
    new Map(
      (collection.indexes ?? []).map((index) => [
        index.name,
        { ...definitionOfIndex(collection, index), id: index.id },
      ]),
    );
  const [was, is] = [shown(before), shown(after)];
  const nameOf = (index: string) => `${after.name}.${index}`;
  const changes: Change[] = [];
  for (const [index, { id, ...now }] of is) {
    const former = was.get(index);
    if (!former) changes.push({ action: 'create', kind: 'index', name: nameOf(index) });
    else if (former.id !== id) {
      const { id: _, ...old } = former;
      changes.push({
        action: 'change',
        kind: 'index',
        name: nameOf(index),
        changed: [{ member: 'index', before: old, after: now }],
      });
    }
  }
  for (const index of was.keys())
    if (!is.has(index)) changes.push({ action: 'drop', kind: 'index', name: nameOf(index) });
  if (changes.length === 0 && !isDeepStrictEqual([...was.keys()], [...is.keys()]))
    changes.push({
      action: 'change',
      kind: 'collection',
      name: after.name,
      changed: [{ member: 'index order', before: [...was.keys()], after: [...is.keys()] }],
    });
  return changes;
}
