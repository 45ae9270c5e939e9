import assert from 'node:assert/strict';
import { test } from 'node:test';
import { createValueCipher } from '@recordbus/crypto';
import { openFields } from '@recordbus/query';
import { type Collection, createFieldEncryption, type Field } from '@recordbus/schema';
import { decryptAnswer, decryptHistory } from './decrypt-answer.ts';
import type { Expansion } from './expansion.ts';

const field = (name: string, type: string, options: object = {}): Field => ({
  id: name,
  name,
  type,
  required: false,
  system: false,
  options: { ...options },
});

const collectionOf = (name: string, ...fields: Field[]): Collection => ({
  id: name,
  name,
  type: 'base',
  fields,
  viewQuery: null,
  rules: { list: null, view: null, create: null, update: null, delete: null },
  historyEnabled: true,
  createdAtSec: 0,
  updatedAtSec: 0,
});

const notes = collectionOf(
  'notes',
  field('title', 'text'),
  field('note', 'text', { encrypted: true }),
  field('extra', 'json', { encrypted: true }),
  field('open', 'json'),
);
/** Has the field names of notes, but its `note` is not encrypted. */
const papers = collectionOf('papers', field('note', 'text'), field('secret', 'text', { encrypted: true }));
const plain = collectionOf('plain', field('note', 'text'));

const cipher = createValueCipher('a key');
const warnings: string[] = [];
const log = { warn: (_: object, message: string) => warnings.push(message) };
const encryption = createFieldEncryption({ cipher, log });
const shownNotes = { collection: notes, expansions: undefined };

const expansion = (name: string, target: Collection, inner?: Expansion[]): Expansion => ({
  name,
  column: `"${name}"`,
  target,
  isList: false,
  referrers: undefined,
  view: openFields,
  condition: undefined,
  needsRuleCheck: false,
  inner,
});

/** Counts the event loop's turns. */
function countTurns(): Disposable & { count(): number } {
  let turns = 0;
  const turn = () => {
    turns += 1;
    timer = setImmediate(turn);
  };
  let timer = setImmediate(turn);
  return { count: () => turns, [Symbol.dispose]: () => clearImmediate(timer) };
}

const encrypt = (text: string): string => cipher.encrypt(text);

test("a record's encrypted texts are decrypted, and the rest is unchanged", async () => {
  const text = 'it says "é\\" {[,\n';
  const body = `{"data":{"id":"a","title":"\\"note\\":\\"enc:1:","note":${JSON.stringify(encrypt(text))},"extra":"${encrypt('{"a": [1.50, 1e+2]}')}","open":{"b": 12345678901234567890.10}}}`;
  assert.equal(
    await decryptAnswer(encryption, shownNotes, body),
    `{"data":{"id":"a","title":"\\"note\\":\\"enc:1:","note":${JSON.stringify(text)},"extra":{"a": [1.50, 1e+2]},"open":{"b": 12345678901234567890.10}}}`,
  );
});

test('values that were never encrypted, and missing values, are unchanged', async () => {
  for (const body of [
    '{"data":[]}',
    '{"data":[{"note":null,"extra":null},{"note":"plain","extra":{"note":"x","list":["y"]}}],"page":1}',
    '{"data":{"note":"","extra":[]}}',
  ])
    assert.equal(await decryptAnswer(encryption, shownNotes, body), body);
});

test('a value that the key cannot decrypt is empty, which is logged once for each field', async () => {
  const foreign = createValueCipher('another key');
  const body = `{"data":[{"note":"${foreign.encrypt('x')}","extra":"${foreign.encrypt('1')}"},{"note":"enc:1:broken"}]}`;
  warnings.length = 0;
  assert.equal(await decryptAnswer(encryption, shownNotes, body), '{"data":[{"note":"","extra":null},{"note":""}]}');
  assert.equal(warnings.length, 2);
});

test('every record in a list and in a history is decrypted', async () => {
  const record = (text: string) => `{"id":"a","note":"${text}","open":[{"c":[]}]}`;
  const encrypted = ['x', 'y', 'z'].map((text) => record(encrypt(text))).join();
  const records = ['x', 'y', 'z'].map(record).join();
  assert.equal(
    await decryptAnswer(encryption, shownNotes, `{"data":[${encrypted}],"page":1}`),
    `{"data":[${records}],"page":1}`,
  );
  const history = (versions: string) => `{"data":{"data":[${versions}],"page":1}}`;
  const version = (text: string) => `{"id":"v","snapshot":${record(text)},"at":1}`;
  assert.equal(
    await decryptHistory(encryption, notes, history(`${version(encrypt('x'))},${version(encrypt('y'))}`), 1000),
    history(`${version('x')},${version('y')}`),
  );
});

test("an expansion is decrypted by its own collection's fields", async () => {
  const [encryptedNote, encryptedSecret] = [encrypt('note'), encrypt('secret')];
  const bodyOf = (note: string, secret: string) =>
    `{"data":[{"id":"a","expand":{"paper":{"note":"${encryptedNote}","secret":"${secret}","expand":{"next":{"note":"${note}"}}}},"note":"${note}"}]}`;
  const inner = [expansion('next', notes)];
  const shown = { collection: notes, expansions: [expansion('paper', papers, inner)] };
  assert.equal(
    await decryptAnswer(encryption, shown, bodyOf(encryptedNote, encryptedSecret)),
    bodyOf('note', 'secret'),
  );
  const body = bodyOf(encryptedNote, encryptedSecret);
  assert.equal(
    await decryptAnswer(encryption, { collection: plain, expansions: [expansion('paper', plain)] }, body),
    body,
  );
});

test('an encrypted text outside an encrypted field stays encrypted', async () => {
  const stolen = JSON.stringify(encrypt('stolen'));
  const inside = `{"note":${stolen},"data":{"note":${stolen}},"snapshot":{"note":${stolen}},"expand":{"paper":{"secret":${stolen}}}}`;
  const shown = { collection: notes, expansions: [expansion('paper', papers)] };
  for (const record of [
    `{"title":${stolen}}`,
    `{"open":${inside}}`,
    `{"open":[${inside},[${inside}]]}`,
    `{"extra":${inside}}`,
    `{"extra":[${stolen},${inside}]}`,
    `{"expand":{"paper":{"note":${stolen}}}}`,
    `{"expand":{"note":${stolen}}}`,
    `{"note":null,"open":${stolen}}`,
    `{"title":"note","open":["note",${stolen}]}`,
  ])
    for (const body of [`{"data":${record},"note":${stolen}}`, `{"data":[${record}],"page":${stolen}}`])
      assert.equal(await decryptAnswer(encryption, shown, body), body);
});

test('a large answer is decrypted in more event loop turns than a small one [cost §4.1]', async () => {
  using turns = countTurns();
  const encrypted = encrypt('x'.repeat(300));
  const answerOf = (count: number, text: string) =>
    `{"data":[${Array.from({ length: count }, (_, index) => `{"id":"${index}","note":"${text}"}`).join()}]}`;
  await decryptAnswer(encryption, shownNotes, answerOf(30, encrypted));
  const before = turns.count();
  assert.equal(
    await decryptAnswer(encryption, shownNotes, answerOf(30_000, encrypted)),
    answerOf(30_000, 'x'.repeat(300)),
  );
  assert.ok(turns.count() > before + 5, `${before} turns, then ${turns.count()}`);
});

test('one value with many megabytes is skipped in many turns [cost §4.1]', async () => {
  using turns = countTurns();
  const long = JSON.stringify('"{[\\'.repeat(4_000_000));
  const body = (note: string) => `{"data":{"title":${long},"open":[${long}],"note":"${note}"}}`;
  assert.equal(await decryptAnswer(encryption, shownNotes, body(encrypt('x'))), body('x'));
  assert.ok(turns.count() > 5, `${turns.count()} turns`);
});

test('an answer that is too large once decrypted is refused [cost §2.1]', async () => {
  const refusal = { status: 422, code: 'answer_too_large' };
  // A control character is one byte when it is encrypted and six in JSON; an é is two bytes and one UTF-16 code unit.
  for (const text of ['\u0001'.repeat(1000), 'é'.repeat(1000)]) {
    const bodyOf = (note: string) => `{"data":[{"note":${note}},{"note":${note}},{"title":"x"}]}`;
    const encrypted = bodyOf(JSON.stringify(encrypt(text)));
    const whole = bodyOf(JSON.stringify(text));
    const bytes = Buffer.byteLength(whole);
    assert.equal(await decryptAnswer(encryption, shownNotes, encrypted, bytes), whole);
    await assert.rejects(async () => decryptAnswer(encryption, shownNotes, encrypted, bytes - 1), refusal);
    await assert.rejects(async () => decryptAnswer(encryption, shownNotes, encrypted, 2000), refusal);
    const history = `{"data":{"data":[{"snapshot":{"note":${JSON.stringify(encrypt(text))}}}]}}`;
    await assert.rejects(decryptHistory(encryption, notes, history, 2000), refusal);
    assert.equal(await decryptAnswer(encryption, shownNotes, encrypted), whole);
  }
});
