import { encryptedFieldsOf, type FieldSealing } from '@recordbus/schema';
import type { Expansion } from './expansion.ts';
import type { Shown } from './record-json.ts';

/** What an answer shows of which collections. */
type Opened = Pick<Shown, 'collection' | 'expansions'>;

type JsonRecord = Record<string, unknown>;

/** Has anything that it shows encrypted fields? An answer without any is passed on as the database wrote it. */
const hasEncrypted = ({ collection, expansions = [] }: Opened): boolean =>
  encryptedFieldsOf(collection).length > 0 || expansions.some((expansion) => hasEncrypted(shownBy(expansion)));

/** Opens the encrypted fields of a body: `data` is a record, or a list of them. */
export function openAnswer(sealing: FieldSealing, shown: Opened, body: string): string {
  if (!hasEncrypted(shown)) return body;
  const answer: { data: JsonRecord | JsonRecord[] } = JSON.parse(body);
  for (const record of [answer.data].flat()) openRecord(sealing, shown, record);
  return JSON.stringify(answer);
}

/** Opens the encrypted fields of a body that lists a record's history. */
export function openHistory(sealing: FieldSealing, { collection }: Pick<Opened, 'collection'>, body: string): string {
  if (encryptedFieldsOf(collection).length === 0) return body;
  const answer: { data: { data: { snapshot: JsonRecord }[] } } = JSON.parse(body);
  for (const { snapshot } of answer.data.data) sealing.openRecord(collection, snapshot);
  return JSON.stringify(answer);
}

function openRecord(sealing: FieldSealing, { collection, expansions = [] }: Opened, record: JsonRecord): void {
  sealing.openRecord(collection, record);
  const expand = record.expand as Record<string, JsonRecord> | undefined;
  for (const expansion of expansions) {
    const target = expand?.[expansion.name];
    if (target) openRecord(sealing, shownBy(expansion), target);
  }
}

const shownBy = ({ target, inner }: Expansion): Opened => ({ collection: target, expansions: inner });
