import type { IncomingMessage, ServerResponse } from 'node:http';
import { type AppError, unavailable, upstreamTimeout } from '@recordbus/errors';
import { hasBody } from '@recordbus/http';
import { clientKey } from '@recordbus/request/client-key';
import type { ContextSigner, RequestContext } from '@recordbus/request/context';
import type { Endpoint, Endpoints } from './endpoints.ts';
import type { HeldConnections } from './held-connection.ts';
import { RelayError, relay } from './relay.ts';
import { relayUpgrade } from './relay-upgrade.ts';

interface ForwardDeps {
  /** The service's name. */
  readonly name: string;
  readonly endpoints: Endpoints;
  readonly contextSigner: ContextSigner;
  /** Notified about the requests that hold a connection. */
  readonly held: HeldConnections;
  /** Whether answers stay open. Then each has its own connection, in addition to those that requests share. */
  readonly staysOpen: boolean;
}

/** Forwards a request. With `head`, the first bytes after it, it is a request for a WebSocket. */
type ForwardOverHttp = (
  request: IncomingMessage,
  response: ServerResponse,
  context: RequestContext,
  head?: Buffer,
) => Promise<void>;

/**
 * Forwards requests to a service's replicas. A request that never got a connection goes to the next replica. A GET or
 * HEAD whose connection broke before an answer is sent once more; a request that may have had an effect is not.
 */
export function forwardOverHttp({ name, endpoints, contextSigner, held, staysOpen }: ForwardDeps): ForwardOverHttp {
  return async (request, response, context, head) => {
    const sign = () => contextSigner.sign(context, request);
    const client = clientKey(context.clientAddress);
    let unreachable: Set<Endpoint> | undefined;
    let mayResend = isRepeatable(request);
    for (;;) {
      const endpoint = endpoints.pick(unreachable);
      if (!endpoint) throw unavailable(`the ${name} service does not answer`);
      const connection = staysOpen ? endpoint.connect() : undefined;
      endpoint.inFlight += 1;
      const leave = () => {
        endpoint.inFlight -= 1;
        void connection?.destroy();
      };
      try {
        const options = { sign, client, held, staysOpen };
        if (head) await relayUpgrade(connection ?? endpoint.pool, request, response, head, options);
        else await relay(connection ?? endpoint.pool, request, response, options);
        endpoint.isDown = false;
        if (staysOpen && !response.closed) response.once('close', leave);
        else leave();
        return;
      } catch (error) {
        leave();
        if (!(error instanceof RelayError)) throw error;
        if (error.isSent) {
          if (!mayResend || error.isTimeout) throw toAppError(name, error);
          mayResend = false;
        } else {
          endpoint.isDown = true;
          unreachable = (unreachable ?? new Set()).add(endpoint);
        }
      }
    }
  };
}

const isRepeatable = (request: IncomingMessage): boolean =>
  (request.method === 'GET' || request.method === 'HEAD') && !hasBody(request);

const toAppError = (name: string, error: RelayError): AppError =>
  error.isTimeout
    ? upstreamTimeout(`the ${name} service took too long`)
    : unavailable(`the ${name} service does not answer`, error.cause);
