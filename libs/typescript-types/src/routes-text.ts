import { resolved, schemaText } from './schema-text.ts';

type Json = Readonly<Record<string, unknown>>;

/** Where extension routes are. */
const extensionPath = '/api/x/';

/** The interface for extension routes, from the API document; without routes it is empty, so that imports of it hold. */
export function routesText(document: Json): string {
  const lines = Object.entries(Object(document.paths) as Json)
    .filter(([path]) => path.startsWith(extensionPath))
    .flatMap(([path, methods]) =>
      Object.entries(Object(methods) as Json).map(
        ([method, operation]) =>
          `  ${JSON.stringify(`${method.toUpperCase()} ${path}`)}: ${routeText(operation, document)};`,
      ),
    );
  const about = '/** The extension routes, for `createClient<Schema, Routes>`. */';
  return `${about}\nexport interface Routes {${lines.map((line) => `\n${line}`).join('')}\n}\n`;
}

function routeText(operation: unknown, document: Json): string {
  const { parameters = [], requestBody, responses } = Object(operation) as Json;
  const list = parameters as readonly Json[];
  const inPlace = (place: string): string =>
    objectOf(
      list
        .filter((parameter) => parameter.in === place)
        .map(({ name, required, schema }) => [String(name), required === true, schemaText(schema, document)]),
    );
  const body = jsonSchemaOf(requestBody);
  const answer = Object.entries(Object(responses) as Json).find(([status]) => status.startsWith('2'))?.[1];
  const data = Object(Object(resolved(jsonSchemaOf(answer), document)).properties).data;
  return [
    `{ readonly params: ${inPlace('path')}`,
    `readonly query: ${inPlace('query')}`,
    `readonly body: ${body ? schemaText(body, document) : 'undefined'}`,
    `readonly answer: ${schemaText(data, document)} }`,
  ].join('; ');
}

const objectOf = (members: readonly (readonly [name: string, isRequired: boolean, text: string])[]): string =>
  members.length === 0
    ? '{}'
    : `{ ${members.map(([name, isRequired, text]) => `readonly ${JSON.stringify(name)}${isRequired ? '' : '?'}: ${text}`).join('; ')} }`;

const jsonSchemaOf = (message: unknown): unknown => Object(Object(Object(message).content)['application/json']).schema;
