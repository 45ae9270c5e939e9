import type { IncomingMessage } from 'node:http';
import { parseQuery, splitUrl } from '@recordbus/http';
import type { UpgradeHandler } from '@recordbus/http/service';
import { createConnectionScope } from '@recordbus/request/request-scope';
import { type RawData, WebSocketServer } from 'ws';
import { createWsTransport } from '../connection/ws-transport.ts';
import { checkOpening, type OpeningRequest, openConnection, readableQuery } from '../open-connection.ts';
import { WsSession, type WsSessionDeps } from './ws-session.ts';

/** This version's subprotocol (realtime §1.3). */
const subprotocol = 'recordbus.v1';

/** A client's largest message. A mebibyte of JSON may keep the process busy for a tenth of a second. */
const maxMessageBytes = 2 ** 16;

/** RFC 6455 §7.4.1: the server met an unexpected condition. */
const internalErrorCode = 1011;

interface UpgradeDeps extends WsSessionDeps {
  readonly isDraining: () => boolean;
}

/** Creates the WebSocket handler. */
export function createUpgrade(deps: UpgradeDeps): UpgradeHandler {
  const { parts, isDraining } = deps;
  const server = new WebSocketServer({
    noServer: true,
    clientTracking: false,
    perMessageDeflate: false,
    maxPayload: maxMessageBytes,
    handleProtocols: (offered) => (offered.has(subprotocol) ? subprotocol : false),
  });

  return async (request, socket, head, context) => {
    const opening: OpeningRequest = { context, caller: callerOf(request) };
    await checkOpening(parts, opening, isDraining());
    server.handleUpgrade(request, socket, head, (webSocket) => {
      const connection = openConnection(parts, opening, createWsTransport(webSocket));
      const session = new WsSession(deps, connection);
      const bound = createConnectionScope(() => webSocket.close(internalErrorCode));
      const onMessage = bound((data: RawData, isBinary: boolean) => {
        if (isBinary) connection.end('not_text');
        else session.take(String(data));
      });
      const onClose = bound(() => {
        connection.end('client');
        session.end();
      });
      webSocket.on('message', onMessage).once('close', onClose);
      // For a frame that cannot be read or is too large, ws sends the code and closes.
      webSocket.on('error', () => {});
      void parts.sessions.check(connection);
    });
  };
}

function callerOf({ url = '/', headers }: IncomingMessage): OpeningRequest['caller'] {
  const texts = Object.entries(headers).map(([name, value]) => [
    name,
    Array.isArray(value) ? value.join(', ') : (value ?? ''),
  ]);
  return {
    headers: Object.fromEntries(texts),
    query: readableQuery(parseQuery(splitUrl(url).search)),
  };
}
