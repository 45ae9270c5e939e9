import assert from 'node:assert/strict';
import { describe, it } from 'node:test';
import { createContextSigner, type RequestContext } from './context.ts';

const secret = new TextEncoder().encode('a secret of at least thirty-two characters');
const context: RequestContext = {
  requestId: 'r-1',
  traceparent: `00-${'a'.repeat(32)}-${'b'.repeat(16)}-00`,
  principal: { type: 'admin', id: '1', email: 'ädmin@example.com' },
  clientAddress: '192.0.2.1',
};
const refused = { status: 403, code: 'context_refused' };

describe('the signer of request contexts', () => {
  const contextSigner = createContextSigner(secret, () => 1_000_000);

  it('verifies its own contexts', () => assert.deepEqual(contextSigner.verify(contextSigner.sign(context)), context));

  it('opens a context of another process with the same secret', () =>
    assert.deepEqual(createContextSigner(secret, () => 1_000_500).verify(contextSigner.sign(context)), context));

  it('refuses a context with another secret', () => {
    const other = createContextSigner(
      new TextEncoder().encode('another secret of thirty-two characters'),
      () => 1_000_000,
    );
    assert.throws(() => contextSigner.verify(other.sign(context)), refused);
  });

  it('refuses a context whose content was changed', () => {
    const [payload = '', signature] = contextSigner.sign(context).split('.');
    const changed = Buffer.from(payload, 'base64url').toString().replace('"admin"', '"user"');
    assert.throws(() => contextSigner.verify(`${Buffer.from(changed).toString('base64url')}.${signature}`), refused);
  });

  it('refuses a context that is too old or too far in the future', () => {
    assert.throws(
      () => createContextSigner(secret, () => 1_000_000 + 61_000).verify(contextSigner.sign(context)),
      refused,
    );
    assert.throws(
      () => createContextSigner(secret, () => 1_000_000 - 61_000).verify(contextSigner.sign(context)),
      refused,
    );
  });

  for (const header of [undefined, '', '.', 'x', 'x.y', 'x.y.z', ['a', 'b']]) {
    it(`refuses ${JSON.stringify(header)}`, () => assert.throws(() => contextSigner.verify(header), refused));
  }
});
