import { invalidArgument } from './error.ts';
import type { Call, Transport } from './transport.ts';
import { encode, type Query } from './url.ts';

interface AnyInput {
  readonly params?: Readonly<Record<string, unknown>>;
  readonly query?: Query;
  readonly body?: unknown;
  readonly signal?: AbortSignal;
  readonly idempotencyKey?: string | true;
}

/** Calls a route by its method and path, `POST /api/x/books/{id}/lend`. */
export function callRoute(transport: Transport, route: string, input: AnyInput = {}): Promise<unknown> {
  const { params = {}, query, body, signal, idempotencyKey } = input;
  const [method, template = ''] = route.split(' ') as [Call['method'], string];
  const path = template.replace(/\{(\w+)\}/g, (_, name: string) => {
    const value = String(params[name] ?? '');
    if (['', '.', '..'].includes(value)) throw invalidArgument(`The path needs a value for ${name}.`);
    return encode(value);
  });
  return transport.data({ method, path, query, values: body, signal, key: idempotencyKey });
}
