import { z } from 'zod';

/** An answer that is more than data in the envelope. */
export interface DeclaredAnswer {
  readonly about?: string;
  /** This answer's headers, in addition to every answer's, each with its description. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The body's content type. Without it the body is JSON if there is a schema, otherwise there is no body. */
  readonly contentType?: string;
  /** The whole body's schema, envelope included. */
  readonly schema?: z.ZodType;
}

/**
 * What a route declares for a status. A schema is that of the body's `data`. A sentence describes a refusal, whose body
 * always has the same shape (http §4.1), or a 304. Anything else is a `DeclaredAnswer`.
 */
export type Answer = z.ZodType | string | DeclaredAnswer;

/** A declared answer as data, within a manifest. */
export interface AnswerManifest {
  readonly about?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly contentType?: string | undefined;
  /** The whole body's JSON Schema. */
  readonly schema?: JsonSchema | undefined;
  /** A refusal's body, in place of its status's general example. */
  readonly example?: unknown;
}

/** A JSON Schema (draft 2020-12). */
export type JsonSchema = Readonly<Record<string, unknown>>;

const count = z.int();

const pageSchema = (row: z.ZodType) =>
  z.object({
    data: z.array(row),
    page: count,
    perPage: count,
    totalItems: count.describe('-1 when it was not counted'),
    totalPages: count.describe('-1 when it was not counted'),
  });

const cursorPageSchema = (row: z.ZodType) =>
  z.object({
    data: z.array(row),
    perPage: count,
    next: z.string().nullable().describe("the next page's cursor; null at the end"),
  });

/** Declares a list page with such rows, with its counts (http §3.2). */
export const pageOf = (row: z.ZodType): DeclaredAnswer => ({ schema: pageSchema(row) });

/** Declares the same, and a page in a list by cursor (records §3.6), as components with these beginnings. */
export const cursorPageOf = (row: z.ZodType, name: string, more: z.ZodRawShape = {}): DeclaredAnswer => ({
  schema: z.union([
    pageSchema(row)
      .extend(more)
      .meta({ id: `${name}Page` }),
    cursorPageSchema(row).meta({ id: `${name}CursorPage` }),
  ]),
});

/** Declares a body that is not only the envelope. */
export const wholeBody = (schema: z.ZodType): DeclaredAnswer => ({ schema });

/** Declares `withWarnings`' answer, from its data's schema. */
export const mayWarn = (data: z.ZodType): DeclaredAnswer =>
  wholeBody(
    z.object({
      data,
      warnings: z.array(z.string()).optional().describe('sentences for people; absent when there are none'),
    }),
  );

/** Declares a body that is not JSON. */
export const otherContent = (contentType: string, about: string): DeclaredAnswer => ({ contentType, about });

/** Adds headers to a declared answer, each with its description. */
export const withHeaders = (answer: z.ZodType | DeclaredAnswer, headers: Record<string, string>): DeclaredAnswer => ({
  ...declared(answer),
  headers,
});

/** Returns the JSON Schema for a body with such data in the envelope. */
export const inEnvelope = (data: JsonSchema): JsonSchema => ({
  type: 'object',
  properties: { data },
  required: ['data'],
  additionalProperties: false,
});

/** Returns the JSON Schemas for such a list's pages, by number and by cursor. */
export const pagesOf = (row: JsonSchema): { readonly page: JsonSchema; readonly cursorPage: JsonSchema } => ({
  page: withRows(pageSchema, row),
  cursorPage: withRows(cursorPageSchema, row),
});

function withRows(schema: (row: z.ZodType) => z.ZodType, row: JsonSchema): JsonSchema {
  const { properties, ...rest } = toJsonSchema(schema(z.unknown()), 'output');
  return { ...rest, properties: { ...(properties as object), data: { type: 'array', items: row } } };
}

const declared = (answer: z.ZodType | DeclaredAnswer): DeclaredAnswer =>
  answer instanceof z.ZodType ? { schema: z.object({ data: answer }) } : answer;

/** Converts an answer's declaration to data. */
export function describeAnswer(answer: Answer): AnswerManifest {
  if (typeof answer === 'string') return { about: answer };
  const { schema, ...rest } = declared(answer);
  return { ...rest, ...(schema && { schema: toJsonSchema(schema, 'output') }) };
}

/**
 * Returns the JSON Schema for a value that a client sends (`input`) or gets (`output`). Parts that it cannot express
 * accept anything.
 */
export function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema, ...rest } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    // Zod omits the default of a transformed input. If the metadata state one, it is that of the sent value.
    override({ zodSchema, jsonSchema }) {
      const { default: stated } = z.globalRegistry.get(zodSchema) ?? {};
      if (stated !== undefined) jsonSchema.default = stated as z.core.JSONSchema.BaseSchema['default'];
    },
  });
  return rest;
}

/** Whether the answer describes its body. Refusals always do, and so do statuses without a body. */
export const isDescribed = (status: number, { schema, contentType }: AnswerManifest): boolean =>
  schema !== undefined || contentType !== undefined || status >= 400 || status === 204 || status === 304;
