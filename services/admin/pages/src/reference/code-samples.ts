import { clientCall } from './client-calls.ts';
import { collectionCall } from './collection-calls.ts';
import { exampleOf } from './example-value.ts';
import type { OpenApi, Operation, Schema } from './read-document.ts';

/** Each sample's first lines. */
const beginning = (origin: string): string => `import { createClient } from '@recordbus/client';
import type { Schema } from './recordbus.d.ts';

const client = createClient<Schema>('${origin}', { token });
`;

/** Adds a sample for the client to each operation that it has a call for. */
export function withSamples(document: OpenApi, origin: string): OpenApi {
  const paths = Object.fromEntries(
    Object.entries(document.paths).map(([path, item]) => [
      path,
      Object.fromEntries(
        Object.entries(item).map(([method, operation]) => {
          const call = callOf(document, `${method.toUpperCase()} ${path}`, operation);
          const samples = call && [{ lang: 'typescript', label: 'Client', source: `${beginning(origin)}${call}\n` }];
          return [method, { ...operation, ...(samples && { 'x-codeSamples': samples }) }];
        }),
      ),
    ]),
  );
  return { ...document, paths };
}

/** Returns the client call for an operation. Undefined if there is none. */
function callOf(document: OpenApi, route: string, operation: Operation): string | undefined {
  const body = (): string => textOf(exampleOf(document, bodyOf(operation)));
  const known = collectionCall(operation, body) ?? clientCall(route, body);
  if (known !== undefined) return `const result = await ${known};`;
  return route.includes(' /api/x/') ? `const result = await ${routeCall(route, body)};` : undefined;
}

const bodyOf = ({ requestBody }: Operation): Schema | undefined => requestBody?.content['application/json']?.schema;

/** Returns the call to an extension's route. */
function routeCall(route: string, body: () => string): string {
  const params = [...route.matchAll(/\{(\w+)\}/g)].map(([, name]) => `${name}: '…'`);
  const input = [
    ...(params.length > 0 ? [`params: { ${params.join(', ')} }`] : []),
    ...(/^(POST|PUT|PATCH) /.test(route) ? [`body: ${body()}`] : []),
  ];
  return `client.call('${route}'${input.length > 0 ? `, { ${input.join(', ')} }` : ''})`;
}

/** Formats a value as TypeScript, on one line if it is short. */
function textOf(value: unknown): string {
  const short = literalOf(value);
  return short.length <= 60 || typeof value !== 'object'
    ? short
    : JSON.stringify(value, null, 2).replace(/"(\w+)":/g, '$1:');
}

function literalOf(value: unknown): string {
  if (typeof value === 'string') return `'${value.replace(/[\\']/g, '\\$&').replaceAll('\n', '\\n')}'`;
  if (Array.isArray(value)) return `[${value.map(literalOf).join(', ')}]`;
  if (typeof value !== 'object' || value === null) return String(value);
  const members = Object.entries(value).map(
    ([name, member]) => `${/^[A-Za-z_$][\w$]*$/.test(name) ? name : literalOf(name)}: ${literalOf(member)}`,
  );
  return members.length === 0 ? '{}' : `{ ${members.join(', ')} }`;
}
