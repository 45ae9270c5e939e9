import type { IncomingMessage, ServerResponse } from 'node:http';
import { AppError } from '@recordbus/errors';
import { attributeText, failSpan, inSpan, type Span } from '@recordbus/process/telemetry';
import type { RequestContext } from '@recordbus/request/context';

interface ServerSpanOptions {
  readonly request: IncomingMessage;
  readonly response: ServerResponse;
  readonly context: RequestContext;
  /** The declared path, if it is known already. */
  readonly route?: string;
  readonly traceparent: string | undefined;
}

/**
 * Runs the work of a request in a server span with the attributes of the HTTP conventions (OpenTelemetry semantic
 * conventions, "HTTP spans"). Only 5xx is an error of a server. The query is left out: it carries filters and tokens.
 */
export async function inServerSpan(
  { request, response, context, route, traceparent }: ServerSpanOptions,
  work: (span: Span | undefined) => Promise<void>,
): Promise<void> {
  const method = request.method ?? 'GET';
  let thrown: { readonly error: unknown } | undefined;
  await inSpan(
    route === undefined ? method : `${method} ${route}`,
    { kind: 'SERVER', traceparent, attributes: () => attributesOf(request, context, route) },
    async (span) => {
      // A refusal is an answer. Thrown through the span, it would be an error.
      await work(span).catch((error: unknown) => {
        thrown = { error };
      });
      if (span) noteAnswer(span, response, thrown?.error);
    },
  );
  if (thrown) throw thrown.error;
}

/** Adds the declared path to a span that began before it was known. */
export function nameRoute(span: Span, method: string | undefined, route: string): void {
  span.updateName(`${method} ${route}`);
  span.setAttribute('http.route', route);
}

function attributesOf(
  { method, url, headers, httpVersion, socket }: IncomingMessage,
  context: RequestContext,
  route?: string,
) {
  return {
    'http.request.method': method ?? 'GET',
    'url.path': attributeText((url ?? '/').split('?', 1)[0] ?? '/'),
    'url.scheme': 'encrypted' in socket ? 'https' : 'http',
    'network.protocol.version': httpVersion,
    'client.address': context.clientAddress,
    ...(route !== undefined && { 'http.route': route }),
    ...(socket.remoteAddress !== undefined && { 'network.peer.address': socket.remoteAddress }),
    ...(socket.remotePort !== undefined && { 'network.peer.port': socket.remotePort }),
    ...(headers['user-agent'] !== undefined && { 'user_agent.original': attributeText(headers['user-agent']) }),
  };
}

/** Adds the answer's status. A client that left before its answer began has none. */
function noteAnswer(span: Span, response: ServerResponse, error: unknown): void {
  const status = statusOf(response, error);
  if (status === undefined) return;
  span.setAttribute('http.response.status_code', status);
  if (status >= 500) failSpan(span, String(status), error instanceof Error ? error.message : undefined);
}

function statusOf(response: ServerResponse, error: unknown): number | undefined {
  // The status of a taken-over connection is set without a head.
  if (response.headersSent || response.statusCode === 101) return response.statusCode;
  if (error === undefined) return undefined;
  return error instanceof AppError ? error.status : 500;
}
