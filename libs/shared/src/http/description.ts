import type { JsonSchema } from './answers.ts';
import type { RouteManifest } from './manifest.ts';

/**
 * What a service serves at the moment beside the routes it declares: the collections that were made at runtime, the
 * routes that extensions bring. It becomes part of the API's description, and of nothing else.
 */
export interface Description {
  /** Another one when anything else is another. */
  readonly version: string;
  readonly routes: readonly RouteManifest[];
  /** What schemas of these routes refer to as `#/components/schemas/<name>`. */
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  /** What the operations of a tag are about, by tag. */
  readonly tags: Readonly<Record<string, string>>;
}
