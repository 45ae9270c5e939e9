import type { JsonSchema } from '@recordbus/shared/http';
import { escapeHtml } from './html.ts';

/** The depth to which nested members are shown. */
const maxDepth = 4;

/** Renders a JSON Schema of the document as HTML: its type and a list of its members. */
export function describeSchema(document: object, schema: JsonSchema, depth = 0): string {
  const { $ref } = schema;
  if (typeof $ref === 'string') return describeSchema(document, targetOf(document, $ref), depth);
  const { items, properties, required } = schema;
  const members = Object.entries((properties ?? {}) as Record<string, JsonSchema>);
  const names = new Set((required ?? []) as string[]);
  const inner =
    depth >= maxDepth
      ? ''
      : `${members.length > 0 ? `<ul>${members.map(([name, member]) => memberOf(name, member, names.has(name))).join('')}</ul>` : ''}${
          typeof items === 'object' && items !== null ? `<ul><li>each ${describe(items as JsonSchema)}</li></ul>` : ''
        }`;
  return `<span class="type">${escapeHtml(typeOf(schema))}</span>${aboutOf(schema)}${inner}`;

  function describe(member: JsonSchema): string {
    return describeSchema(document, member, depth + 1);
  }

  function memberOf(name: string, member: JsonSchema, isRequired: boolean): string {
    return `<li><code>${escapeHtml(name)}</code>${isRequired ? '' : '<span class="type">?</span>'} ${describe(member)}</li>`;
  }
}

/** Resolves a reference within the document. */
export const targetOf = (document: object, reference: string): JsonSchema =>
  reference
    .slice(2)
    .split('/')
    .reduce((value: unknown, name) => (value as JsonSchema)[name], document) as JsonSchema;

function typeOf(schema: JsonSchema): string {
  const { type, enum: values, const: only, anyOf, format, pattern } = schema;
  if (only !== undefined) return JSON.stringify(only);
  if (Array.isArray(values)) return values.map((value) => JSON.stringify(value)).join(' | ');
  if (Array.isArray(anyOf)) return anyOf.map(typeOf).join(' | ');
  const name = type === undefined ? 'anything' : [type].flat().join(' | ');
  return [name, format, pattern, ...boundsOf(schema)].filter(Boolean).join(' ');
}

const boundsOf = ({ minimum, maximum, default: otherwise }: JsonSchema): string[] => [
  ...(minimum === undefined ? [] : [`from ${minimum}`]),
  ...(maximum === undefined ? [] : [`to ${maximum}`]),
  ...(otherwise === undefined ? [] : [`else ${JSON.stringify(otherwise)}`]),
];

const aboutOf = ({ description }: JsonSchema): string =>
  typeof description === 'string' ? ` <span class="about">${escapeHtml(description)}</span>` : '';
