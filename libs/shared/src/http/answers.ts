import { z } from 'zod';

/** An answer that is not simply data in the envelope. */
export interface DeclaredAnswer {
  readonly about?: string;
  /** The headers that make the answer what it is, beside those of every answer: what each says. */
  readonly headers?: Readonly<Record<string, string>>;
  /** The content type of the body; JSON when there is a schema, no body when there is neither. */
  readonly contentType?: string;
  /** Of the whole body, envelope included. */
  readonly schema?: z.ZodType;
}

/**
 * What a route declares for a status. A schema is that of the body's `data`; a sentence belongs to a refusal, whose body
 * is always the error of the contract, or to a 304; everything else is a `DeclaredAnswer`.
 */
export type Answer = z.ZodType | string | DeclaredAnswer;

/** An answer as data: what stands in a manifest. */
export interface AnswerManifest {
  readonly about?: string | undefined;
  readonly headers?: Readonly<Record<string, string>> | undefined;
  readonly contentType?: string | undefined;
  /** JSON Schema of the whole body. */
  readonly schema?: JsonSchema | undefined;
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

/** A page of a list of such rows, with its counts (contract §1). */
export const pageOf = (row: z.ZodType): DeclaredAnswer => ({ schema: pageSchema(row) });

/** A body that is not in the envelope, or not only. */
export const wholeBody = (schema: z.ZodType): DeclaredAnswer => ({ schema });

/** A body that is not JSON. */
export const otherContent = (contentType: string, about: string): DeclaredAnswer => ({ contentType, about });

/** The answer with headers of its own, each with what it says. */
export const withHeaders = (answer: z.ZodType | DeclaredAnswer, headers: Record<string, string>): DeclaredAnswer => ({
  ...declared(answer),
  headers,
});

/** The JSON Schema of a body with such data in the envelope. */
export const inEnvelope = (data: JsonSchema): JsonSchema => ({
  type: 'object',
  properties: { data },
  required: ['data'],
  additionalProperties: false,
});

/** The JSON Schema of a page of a list of such rows. */
export const inPage = (row: JsonSchema): JsonSchema => {
  const { properties, ...rest } = toJsonSchema(pageSchema(z.unknown()), 'output');
  return { ...rest, properties: { ...(properties as object), data: { type: 'array', items: row } } };
};

const declared = (answer: z.ZodType | DeclaredAnswer): DeclaredAnswer =>
  answer instanceof z.ZodType ? { schema: z.object({ data: answer }) } : answer;

/** The declaration of an answer as data. */
export function describeAnswer(answer: Answer): AnswerManifest {
  if (typeof answer === 'string') return { about: answer };
  const { schema, ...rest } = declared(answer);
  return { ...rest, ...(schema && { schema: toJsonSchema(schema, 'output') }) };
}

/** The JSON Schema of what a client sends (`input`) or gets (`output`); what it can't say it leaves open. */
export function toJsonSchema(schema: z.ZodType, io: 'input' | 'output'): JsonSchema {
  const { $schema, ...rest } = z.toJSONSchema(schema, {
    io,
    unrepresentable: 'any',
    // Left out of the input of what is transformed, unless the metadata say it: then it is that of what is sent.
    override({ zodSchema, jsonSchema }) {
      const { default: stated } = z.globalRegistry.get(zodSchema) ?? {};
      if (stated !== undefined) jsonSchema.default = stated as z.core.JSONSchema.BaseSchema['default'];
    },
  });
  return rest;
}

/** Does the answer say what its body is? A refusal always does, and a status below 400 that has none. */
export const isDescribed = (status: number, { schema, contentType }: AnswerManifest): boolean =>
  schema !== undefined || contentType !== undefined || status >= 400 || status === 204 || status === 304;
