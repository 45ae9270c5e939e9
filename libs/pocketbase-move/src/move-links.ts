import { AppError } from '@recordbus/errors';
import { callApi } from '@recordbus/stack-calls';
import type { Move } from './move-in.ts';
import { findProvider, hasSameIssuer, readSettings } from './move-providers.ts';
import type { OrderedCollection } from './order-collections.ts';
import type { MovedCollection, MoveReport } from './report.ts';

/** PocketBase's collection of links to sign-in providers. */
const table = '_externalAuths';

const notesOf = ({ collection }: OrderedCollection): string => `${table}/${collection.from.name}`;

/** A link's name in the notes: nothing else of it is left when PocketBase has deleted it. */
type LinkId = readonly [record: string, provider: string, subject: string];

/** Notes the links that a collection's users have in PocketBase now. */
export function noteLinks({ source, state }: Move, ordered: OrderedCollection): void {
  const { from } = ordered.collection;
  if (from.type !== 'auth' || !source.hasTable(table)) return;
  state.noteRows(notesOf(ordered), seen());

  function* seen() {
    for (const { collectionRef, recordRef, provider, providerId } of source.rows(table)) {
      const link: LinkId = [String(recordRef), String(provider), String(providerId)];
      if (collectionRef === from.id) yield { id: JSON.stringify(link), digest: '', updated: 0, files: [] };
    }
  }
}

/** How many links a run would make. */
export const countNewLinks = ({ state }: Move, ordered: OrderedCollection): number =>
  state.count(notesOf(ordered)).fresh;

/** Links users to the identities by which they signed in, and unlinks those that PocketBase no longer has. */
export async function moveLinks(
  { address, state }: Move,
  ordered: OrderedCollection,
  moved: MovedCollection,
  { notes }: Pick<MoveReport, 'notes'>,
): Promise<void> {
  const { from, to } = ordered.collection;
  const name = notesOf(ordered);
  const [fresh, gone] = [[...state.newRows(name)], [...state.goneRows(name)]].map((rows) => rows.map(({ id }) => id));
  if (!fresh?.length && !gone?.length) return;
  const settings = await readSettings(address);
  const refused = new Map<string, string[]>();
  /** Returns why a link is not changed; undefined when it is. */
  const change = async (method: 'PUT' | 'DELETE', id: string): Promise<string | undefined> => {
    const [record, given, subject] = JSON.parse(id) as LinkId;
    const provider = findProvider(ordered.collection, given);
    if (!provider) return `${given} is not a provider here`;
    if (!hasSameIssuer(settings, provider)) return `${given} has another issuer here: see ${provider.prefix}*`;
    const parts = [to.name, record, 'links', provider.name].map(encodeURIComponent);
    try {
      const body = method === 'PUT' ? { subject } : undefined;
      await callApi(address, method, `/api/v1/admin/users/${parts.join('/')}`, body);
      return undefined;
    } catch (error) {
      if (error instanceof AppError && [404, 409, 422].includes(error.status)) return `${given}: ${error.message}`;
      throw error;
    }
  };
  const refuse = (why: string, id: string) => refused.set(why, [...(refused.get(why) ?? []), id]);
  for (const id of fresh ?? []) {
    const why = await change('PUT', id);
    if (why === undefined) moved.links += 1;
    else refuse(why, id);
  }
  state.noteAllNewMoved(name, new Set([...refused.values()].flat()));
  for (const [why, ids] of refused)
    notes.push({
      collection: from.name,
      kind: 'risk',
      text: `${ids.length} links to providers are not taken (${why}): ${ids.slice(0, 20).join(', ')}`,
    });
  // A link that is not here is gone, too.
  for (const id of gone ?? []) await change('DELETE', id);
  state.forget(name, gone ?? []);
}
