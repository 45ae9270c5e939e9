import type { JsonSchema } from './answers.ts';
import type { RouteManifest } from './manifest.ts';

/**
 * What a service serves now besides its declared routes: collections that were created at runtime, and routes of
 * extensions. It is only used for the API's description.
 */
export interface ServiceDescription {
  /** Changes when any other member changes. */
  readonly version: string;
  readonly routes: readonly RouteManifest[];
  /** The schemas that these routes refer to as `#/components/schemas/<name>`. */
  readonly schemas: Readonly<Record<string, JsonSchema>>;
  /** The descriptions of tags, by tag. */
  readonly tags: Readonly<Record<string, string>>;
}
