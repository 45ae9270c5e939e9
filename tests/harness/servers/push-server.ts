import { createVerify, generateKeyPairSync } from 'node:crypto';
import { once } from 'node:events';
import { createServer, type IncomingMessage } from 'node:http';
import type { AddressInfo } from 'node:net';
import { text } from 'node:stream/consumers';

/** A recorded request to send a message. */
interface PushRequest {
  readonly provider: 'onesignal' | 'fcm';
  readonly json: Readonly<Record<string, unknown>>;
}

/** Targets for both providers; OneSignal's subscription ids are UUIDs. `gone` is not registered. */
export const phone = '5f0d8a3e-2b61-4a5d-9c57-3a1d6d0f7e10';
export const gone = '5f0d8a3e-2b61-4a5d-9c57-3a1d6d0f7e11';

/**
 * Implements OneSignal's and Firebase's documented HTTP interfaces. OneSignal refuses keys other than `apiKey`.
 * Firebase issues access tokens for assertions signed by its service account, and refuses others.
 */
export interface PushServer extends AsyncDisposable {
  readonly url: string;
  readonly requests: readonly PushRequest[];
  readonly appId: string;
  readonly apiKey: string;
  /** A service account document whose token endpoint is this server. */
  readonly serviceAccount: string;
}

/** The access token for a valid assertion. */
export const accessToken = 'ya29.access';
const scope = 'https://www.googleapis.com/auth/firebase.messaging';

/** Starts the server on the loopback address. */
export async function startPushServer(): Promise<PushServer> {
  const { privateKey, publicKey } = generateKeyPairSync('rsa', { modulusLength: 2048 });
  const appId = '0f8fad5b-d9cb-469f-a165-70867728950e';
  const apiKey = 'os_v2_app_key';
  const requests: PushRequest[] = [];

  /** Whether the assertion is signed by the service account, for this server, and has not expired (RFC 7523 §3). */
  function isGoodAssertion(assertion: string): boolean {
    const [header = '', payload = '', signature = ''] = assertion.split('.');
    const verify = createVerify('RSA-SHA256').update(`${header}.${payload}`);
    const claims = JSON.parse(Buffer.from(payload, 'base64url').toString());
    const nowSec = Date.now() / 1000;
    const isTimely = claims.iat <= nowSec + 5 && claims.exp > nowSec && claims.exp - claims.iat <= 3600;
    const isOurs = claims.aud === `${url}/token` && claims.iss === 'push@shop.example' && claims.scope === scope;
    return verify.verify(publicKey, signature, 'base64url') && isTimely && isOurs;
  }

  async function answer(request: IncomingMessage): Promise<[number, unknown]> {
    const body = await text(request);
    const { authorization } = request.headers;
    if (request.url === '/token') {
      const isGood = isGoodAssertion(new URLSearchParams(body).get('assertion') ?? '');
      return isGood
        ? [200, { access_token: accessToken, expires_in: 3599, token_type: 'Bearer' }]
        : [400, { error: 'invalid_grant', error_description: 'Invalid JWT Signature.' }];
    }
    const json = JSON.parse(body);
    if (request.url === '/notifications?c=push') {
      if (authorization !== `Key ${apiKey}` || json.app_id !== appId) return [403, { errors: ['Access denied.'] }];
      requests.push({ provider: 'onesignal', json });
      const invalid = json.include_subscription_ids.filter((id: string) => id === gone);
      return [
        200,
        { id: 'message-1', external_id: null, ...(invalid.length > 0 && { errors: { invalid_player_ids: invalid } }) },
      ];
    }
    if (request.url !== '/v1/projects/shop/messages:send')
      return [404, { error: { code: 404, message: 'The project is not there.', status: 'NOT_FOUND' } }];
    if (authorization !== `Bearer ${accessToken}`) return [401, { error: { code: 401, status: 'UNAUTHENTICATED' } }];
    requests.push({ provider: 'fcm', json });
    if (json.message.token !== gone) return [200, { name: 'projects/shop/messages/1' }];
    const type = 'type.googleapis.com/google.firebase.fcm.v1.FcmError';
    const details = [{ '@type': type, errorCode: 'UNREGISTERED' }];
    return [404, { error: { code: 404, message: 'Requested entity was not found.', status: 'NOT_FOUND', details } }];
  }

  const server = createServer(async (request, response) => {
    const [status, json] = await answer(request);
    response.writeHead(status, { 'content-type': 'application/json' }).end(JSON.stringify(json));
  });
  server.listen(0, '127.0.0.1');
  await once(server, 'listening');
  const url = `http://127.0.0.1:${(server.address() as AddressInfo).port}`;
  return {
    url,
    requests,
    appId,
    apiKey,
    serviceAccount: JSON.stringify({
      type: 'service_account',
      project_id: 'shop',
      private_key_id: 'k1',
      private_key: privateKey.export({ type: 'pkcs8', format: 'pem' }),
      client_email: 'push@shop.example',
      token_uri: `${url}/token`,
    }),
    async [Symbol.asyncDispose]() {
      server.closeAllConnections();
      server.close();
      await once(server, 'close');
    },
  };
}
