import { z } from 'zod';
import { urlsOfDatabase } from './database-urls.ts';

/** One environment variable: its name, what it means, and how its text becomes a value. */
export interface Variable<S extends z.ZodType = z.ZodType> {
  readonly name: string;
  readonly about: string;
  readonly schema: S;
}

export type Config<V extends Record<string, Variable>> = { readonly [K in keyof V]: z.output<V[K]['schema']> };

/** Thrown when the environment is invalid; its message has one sentence for each invalid variable. */
export class ConfigError extends Error {
  override name = 'ConfigError';
}

/** Declares an environment variable. */
export function variable<S extends z.ZodType>(name: string, about: string, schema: S): Variable<S> {
  return { name, about, schema };
}

/**
 * Reads the given variables from the environment; an empty string counts as absent. Throws ConfigError naming every
 * invalid variable, not only the first.
 */
export function loadConfig<V extends Record<string, Variable>>(
  variables: V,
  environment: Readonly<Record<string, string | undefined>> = process.env,
): Config<V> {
  const problems: string[] = [];
  const config: Record<string, unknown> = {};
  for (const [key, { name, schema }] of Object.entries(variables)) {
    const result = schema.safeParse(environment[name] || undefined);
    if (result.success) config[key] = result.data;
    else problems.push(`${name} ${result.error.issues[0]?.message ?? 'is not valid'}.`);
  }
  if (problems.length > 0) throw new ConfigError(problems.join('\n'));
  return config as Config<V>;
}

/** Returns the schema for a whole number from `min` to `max`, both included. */
export const wholeNumber = (min: number, max: number) =>
  z
    .string('must be set')
    .regex(/^\d+$/, `must be a whole number from ${min} to ${max}`)
    .transform(Number)
    .refine((value) => value >= min && value <= max, `must be a whole number from ${min} to ${max}`);

/** Returns the schema for a URL with one of the given protocols (without the colon). */
export const urlOf = (...protocols: string[]) =>
  z.string('must be set').refine(
    (text) => {
      const url = URL.parse(text);
      return url !== null && protocols.includes(url.protocol.slice(0, -1));
    },
    `must be a URL that starts with ${protocols.map((protocol) => `${protocol}://`).join(' or ')}`,
  );

/** The variables that more than one service reads (operation §5.1). */
export const port = variable(
  'SERVICE_PORT',
  'Port to listen on; 0 takes any free one.',
  wholeNumber(0, 65535).default(8080),
);
export const host = variable('SERVICE_HOST', 'Address to listen on.', z.string().default('0.0.0.0'));
export const dataDirectory = variable(
  'SERVICE_DATA_DIR',
  'Directory for the secret file, uploads and, in the local stack, the embedded servers.',
  z.string().default('./data'),
);
export const databaseUrl = variable(
  'SERVICE_DATABASE_URL',
  "PostgreSQL 15 or newer; one database's hosts separated by commas.",
  z
    .string('must be set')
    .refine(
      (text) => urlsOfDatabase(text) !== undefined,
      'must be a URL that starts with postgres:// or postgresql://, such as postgres://user@one:5432,two:5432/name; target_session_attrs can be read-write or primary',
    ),
);
export const databaseReplicaUrls = variable(
  'SERVICE_DATABASE_REPLICA_URLS',
  'Standbys that serve gets and lists; the URLs separated by commas.',
  z
    .string()
    .transform((text) => text.split(',').map((url) => url.trim()))
    .refine(
      (urls) => urls.every((url) => /^postgres(ql)?:$/.test(URL.parse(url)?.protocol ?? '')),
      'must be URLs that start with postgres:// or postgresql://, separated by commas',
    )
    .optional(),
);
export const natsUrl = variable(
  'SERVICE_NATS_URL',
  'NATS with JetStream, 2.10 or newer; several servers separated by commas.',
  z
    .string('must be set')
    .refine(
      (text) => text.split(',').every((part) => URL.parse(part.trim())?.protocol.match(/^(nats|tls):$/)),
      'must be URLs that start with nats:// or tls://, separated by commas',
    ),
);
export const logLevel = variable(
  'SERVICE_LOG_LEVEL',
  'Lowest level that is logged.',
  z
    .enum(
      ['fatal', 'error', 'warn', 'info', 'debug', 'trace', 'silent'],
      'must be one of fatal, error, warn, info, debug, trace, silent',
    )
    .default('info'),
);
export const logFormat = variable(
  'SERVICE_LOG_FORMAT',
  'Log line format, json or text. Default: text on a terminal, json elsewhere.',
  z.enum(['json', 'text'], 'must be json or text').optional(),
);
export const jwtSecret = variable(
  'SERVICE_JWT_SECRET',
  'Secret that signs tokens. Default: the file jwt_secret in the data directory, which the first start creates.',
  z.string().min(32, 'must have at least 32 characters').optional(),
);
