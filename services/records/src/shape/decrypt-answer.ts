import { answerTooLarge } from '@recordbus/database';
import { startSlice } from '@recordbus/limits/time-slice';
import { type Collection, encryptedFieldsOf, type FieldEncryption } from '@recordbus/schema';
import { checkAnswerSize } from './answer-limit.ts';
import { type DecryptText, type EncryptedMembers, searchTexts } from './encrypted-texts.ts';
import type { Expansion } from './expansion.ts';
import type { Projection } from './record-json.ts';

/** The collections that an answer shows. */
type ShownCollections = Pick<Projection, 'collection' | 'expansions'>;

/** How many UTF-16 code units are read between two looks at the clock: a fraction of a millisecond. */
const unitsPerCheck = 65_536;

/**
 * Decrypts the encrypted fields in a body whose `data` is a record or a list of records. The rest stays as the database
 * wrote it. Large bodies are decrypted in time slices. Throws 422 for a body larger than `maxBytes` once decrypted. A
 * write's answer has no limit, since the record is already written (cost §2.1).
 */
export function decryptAnswer(
  encryption: FieldEncryption,
  shown: ShownCollections,
  body: string,
  maxBytes: number = Number.POSITIVE_INFINITY,
): string | Promise<string> {
  const record = encryptedMembersOf(encryption, shown);
  return record ? decryptTexts(body, nestedIn('data', record), maxBytes) : body;
}

/** Returns a function that does the same for one record's JSON; undefined if it has no encrypted member. */
export function createDecryptRecord(
  encryption: FieldEncryption,
  shown: ShownCollections,
  maxBytes: number,
): ((json: string) => Promise<string>) | undefined {
  const record = encryptedMembersOf(encryption, shown);
  return record && ((json) => decryptTexts(json, record, maxBytes));
}

/** The same for a page of a record's history. */
export async function decryptHistory(
  encryption: FieldEncryption,
  collection: Collection,
  body: string,
  maxBytes: number,
): Promise<string> {
  const record = encryptedMembersOf(encryption, { collection, expansions: undefined });
  return record ? decryptTexts(body, nestedIn('data', nestedIn('data', nestedIn('snapshot', record))), maxBytes) : body;
}

/** The encrypted members in a record and its expansions; undefined without any. */
function encryptedMembersOf(
  encryption: FieldEncryption,
  { collection, expansions = [] }: ShownCollections,
): EncryptedMembers | undefined {
  const texts = encryptedFieldsOf(collection).map((field): [string, DecryptText] => [
    field.name,
    (text) => encryption.decryptJson(collection, field, text),
  ]);
  const expanded = expansions.flatMap((expansion): [string, EncryptedMembers][] => {
    const target = encryptedMembersOf(encryption, shownCollectionsOf(expansion));
    return target ? [[expansion.name, expansion.referrers?.hasTotal ? nestedIn('items', target) : target]] : [];
  });
  if (texts.length === 0 && expanded.length === 0) return undefined;
  const expand: EncryptedMembers = { texts: new Map(), nested: new Map(expanded) };
  return { texts: new Map(texts), nested: new Map([['expand', expand]]) };
}

const shownCollectionsOf = ({ target, inner }: Expansion): ShownCollections => ({
  collection: target,
  expansions: inner,
});

const nestedIn = (name: string, members: EncryptedMembers): EncryptedMembers => ({
  texts: new Map(),
  nested: new Map([[name, members]]),
});

async function decryptTexts(json: string, root: EncryptedMembers, maxBytes: number): Promise<string> {
  const search = searchTexts(json, root);
  const slice = startSlice();
  const parts: string[] = [];
  let pending: string[] = [];
  let copied = 0;
  /** UTF-16 code units in the decrypted answer so far, at most its bytes. */
  let units = 0;
  while (!search.isAtEnd()) {
    const found = search.advance(unitsPerCheck);
    const decrypted = found?.decrypt(JSON.parse(json.slice(found.start, found.end)));
    if (found && decrypted !== undefined) {
      pending.push(json.slice(copied, found.start), decrypted);
      units += found.start - copied + decrypted.length;
      if (units > maxBytes) throw answerTooLarge();
      copied = found.end;
    }
    if (!slice.isOver()) continue;
    parts.push(pending.join(''));
    pending = [];
    await slice.pause();
  }
  parts.push(...pending, json.slice(copied));
  const answer = parts.join('');
  checkAnswerSize(answer, maxBytes);
  return answer;
}
