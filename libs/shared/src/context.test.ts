import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createContextSealer, type RequestContext } from './context.ts';

const secret = new TextEncoder().encode('a secret of at least thirty-two characters');
const context: RequestContext = {
  requestId: 'r-1',
  traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00`,
  principal: { type: 'admin', id: '1', email: 'ädmin@example.com' },
  clientAddress: '192.0.2.1',
};
const refused = { status: 403, code: 'context_refused' };

describe('the sealer of request contexts', () => {
  const sealer = createContextSealer(secret, () => 1_000_000);

  it('opens its own contexts', () => assert.deepEqual(sealer.open(sealer.seal(context)), context));

  it('opens a context of another process with the same secret', () =>
    assert.deepEqual(createContextSealer(secret, () => 1_000_500).open(sealer.seal(context)), context));

  it('refuses a context with another secret', () => {
    const other = createContextSealer(
      new TextEncoder().encode('another secret of thirty-two characters'),
      () => 1_000_000,
    );
    assert.throws(() => sealer.open(other.seal(context)), refused);
  });

  it('refuses a context whose content was changed', () => {
    const [payload = '', signature] = sealer.seal(context).split('.');
    const changed = Buffer.from(payload, 'base64url').toString().replace('"admin"', '"user"');
    assert.throws(() => sealer.open(`${Buffer.from(changed).toString('base64url')}.${signature}`), refused);
  });

  it('refuses a context that is too old or too far in the future', () => {
    assert.throws(() => createContextSealer(secret, () => 1_000_000 + 61_000).open(sealer.seal(context)), refused);
    assert.throws(() => createContextSealer(secret, () => 1_000_000 - 61_000).open(sealer.seal(context)), refused);
  });

  for (const header of [undefined, '', '.', 'x', 'x.y', 'x.y.z', ['a', 'b']]) {
    it(`refuses ${JSON.stringify(header)}`, () => assert.throws(() => sealer.open(header), refused));
  }
});
