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
const request = { method: 'GET', url: '/api/v1/posts?page=2' };
const refused = { status: 403, code: 'context_refused' };

describe('the request context signer', () => {
  const contextSigner = createContextSigner(secret, () => 1_000_000);

  it('verifies its own contexts', () =>
    assert.deepEqual(contextSigner.verify(contextSigner.sign(context, request), request), context));

  it("opens another process's context with the same secret", () =>
    assert.deepEqual(
      createContextSigner(secret, () => 1_000_500).verify(contextSigner.sign(context, request), request),
      context,
    ));

  it('refuses a context with another secret', () => {
    const other = createContextSigner(
      new TextEncoder().encode('another secret of thirty-two characters'),
      () => 1_000_000,
    );
    assert.throws(() => contextSigner.verify(other.sign(context, request), request), refused);
  });

  it('refuses a context whose content was changed', () => {
    const [payload = '', signature] = contextSigner.sign(context, request).split('.');
    const changed = Buffer.from(payload, 'base64url').toString().replace('"admin"', '"user"');
    assert.throws(
      () => contextSigner.verify(`${Buffer.from(changed).toString('base64url')}.${signature}`, request),
      refused,
    );
  });

  const others = {
    'another method': { ...request, method: 'DELETE' },
    'another path': { ...request, url: '/api/v1/post?page=2' },
    'another query': { ...request, url: '/api/v1/posts?page=1' },
    'no query': { ...request, url: '/api/v1/posts' },
    'a method and a path that join to the same text': { method: 'GET /api/v1/posts?page=2', url: '' },
  };
  for (const [name, other] of Object.entries(others)) {
    it(`refuses ${name}'s context`, () =>
      assert.throws(() => contextSigner.verify(contextSigner.sign(context, other), request), refused));
  }

  it('refuses a context whose separator moved into the payload', () => {
    const [payload = '', signature] = contextSigner.sign(context, request).split('.');
    assert.throws(() => contextSigner.verify(`${payload}\nGET .${signature}`, { ...request, method: '' }), refused);
  });

  /** Milliseconds from the signature to its check, by the clock of the verifier, which may differ from the signer's. */
  const ages = { accepted: [-1000, -999, 0, 3999, 4000], refused: [-60_000, -1001], late: [4001, 5001, 60_000] };
  const verifiedAfter = (ageMs: number) =>
    createContextSigner(secret, () => 1_000_000 + ageMs).verify(contextSigner.sign(context, request), request);

  for (const ageMs of ages.accepted)
    it(`accepts a context ${ageMs} ms after its signature`, () => assert.deepEqual(verifiedAfter(ageMs), context));
  for (const ageMs of ages.refused)
    it(`refuses a context ${ageMs} ms after its signature, and names the difference`, () =>
      assert.throws(() => verifiedAfter(ageMs), { ...refused, message: new RegExp(`${(ageMs / 1000).toFixed(1)} s`) }));

  for (const ageMs of ages.late)
    it(`asks to repeat a request ${ageMs} ms after its signature, and names the difference`, () =>
      assert.throws(() => verifiedAfter(ageMs), {
        status: 503,
        code: 'unavailable',
        message: new RegExp(`${(ageMs / 1000).toFixed(1)} s`),
      }));

  it('refuses a context without a time', () => {
    const signer = createContextSigner(secret, () => Number.NaN);
    assert.throws(() => contextSigner.verify(signer.sign(context, request), request), refused);
  });

  for (const header of [undefined, '', '.', 'x', 'x.y', 'x.y.z', ['a', 'b']]) {
    it(`refuses ${JSON.stringify(header)}`, () => assert.throws(() => contextSigner.verify(header, request), refused));
  }
});
