import { createHash } from 'node:crypto';
import { Readable } from 'node:stream';
import { type ClientRequest, type Reply, readJson } from '@recordbus/pocketbase-clients';
import type { ForClients, OtherGateways } from './other-gateways.ts';

interface ReturnDeps {
  readonly streams: Pick<ForClients, 'deliver'>;
  readonly others: Pick<OtherGateways, 'open' | 'deliver'>;
}

/** Answers a browser that a provider sent back: the window that it opened in is closed. */
export type ReturnFromProvider = (request: ClientRequest, beforeOthers: () => Promise<void>) => Promise<Reply>;

/** Clients wait for the provider's code under this name, and send their stream's id as `state`. */
const event = '@oauth2';

const maxBodyBytes = 64 * 1024;

/** Creates the function. It hands the code to the client whose stream has the id in `state`, once. */
export function createReturnFromProvider({ streams, others }: ReturnDeps): ReturnFromProvider {
  return async (request, beforeOthers) => {
    const given = request.method === 'POST' ? await readJson(request, maxBodyBytes) : Object.fromEntries(request.query);
    const text = (name: string) => (typeof given[name] === 'string' ? given[name] : '');
    const data = { state: text('state'), code: text('code'), ...(text('error') !== '' && { error: text('error') }) };
    const delivery = { clientId: data.state, event, data };
    let answer = await streams.deliver(delivery);
    if (!answer) {
      others.open();
      await beforeOthers();
      answer = await others.deliver(delivery);
    }
    return answer && data.code !== '' && !('error' in data) ? pages.done : pages.failed;
  };
}

const script = 'window.close();';
const hash = createHash('sha256').update(script).digest('base64');

const pageOf = (status: number, text: string): Reply => ({
  status,
  headers: {
    'Content-Type': 'text/html; charset=utf-8',
    'Cache-Control': 'no-store',
    'Content-Security-Policy': `default-src 'none'; script-src 'sha256-${hash}'`,
  },
  get stream() {
    return Readable.from([`<!doctype html><title>Sign-in</title><p>${text}</p><script>${script}</script>`]);
  },
});

const pages = {
  done: pageOf(200, 'You are signed in. You can close this window.'),
  failed: pageOf(400, 'The sign-in failed. Close this window, and try again in the app.'),
};
