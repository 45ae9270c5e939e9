import assert from 'node:assert/strict';
import { after, before, describe, it } from 'node:test';
import { type OpenTemporaryDatabase, openTemporaryDatabase, skipWithoutDatabase } from '@recordbus/database/testing';
import { completeEnvelopes, decodeEnvelope, findEnvelope } from './decode-envelope.ts';
import { referenceTo } from './envelope-text.ts';

const textOf = (id: string, title: string) =>
  `{"id":"${id}","event":"posts.create","timestamp":1,"data":{"title":"${title}","n":12345678901234567890},"actor":{"type":"guest","id":null},"request_id":null}`;
const bytesOf = (text: string) => new TextEncoder().encode(text);
const [kept, small, gone] = [
  '00000000-0000-7000-8000-000000000001',
  '00000000-0000-7000-8000-000000000002',
  '00000000-0000-7000-8000-000000000003',
] as const;

it('decodes a message and keeps every digit in its text', () => {
  const text = textOf(small, 'a');
  const decoded = decodeEnvelope(bytesOf(text));
  assert.equal(decoded.text, text);
  assert.equal(decoded.envelope.event, 'posts.create');
});

for (const [what, bytes] of [
  ['invalid JSON', bytesOf('{')],
  ['JSON that is not an envelope', bytesOf('{"id":"x"}')],
  ['invalid UTF-8', Uint8Array.of(0x22, 0xff, 0x22)],
] as const)
  it(`finds no event in ${what}`, () => {
    assert.equal(findEnvelope(bytes), undefined);
    assert.throws(() => decodeEnvelope(bytes));
  });

describe('large events', { skip: skipWithoutDatabase }, () => {
  let temporary: OpenTemporaryDatabase;
  before(async () => {
    temporary = await openTemporaryDatabase();
  });
  after(() => temporary?.remove());

  it('are completed in place, except one that is no longer stored', async () => {
    const { query } = temporary.database;
    const text = textOf(kept, 'large');
    await query({ text: 'insert into system.large_events (id, body) values ($1, $2)', values: [kept, text] });
    const received = [referenceTo(text), textOf(small, 'a'), referenceTo(textOf(gone, 'b'))].map((message) =>
      decodeEnvelope(bytesOf(message)),
    );
    const complete = await completeEnvelopes(query, received);
    assert.deepEqual(
      complete.map(({ envelope }) => (envelope.data as { title: string } | null)?.title),
      ['large', 'a', undefined],
    );
    assert.equal(complete[0]?.text, text);
  });
});
