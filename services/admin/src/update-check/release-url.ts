import { urlOf, variable } from '@recordbus/shared/config';

/** Where the project tells of its latest release: JSON with `tag_name`. */
const releaseHost = 'https://api.github.com/repos/recordbus/recordbus/releases/latest';

/** The release host that the update checker asks (interface §2.7, contract §9). */
export const releaseUrl = variable(
  'SERVICE_RELEASE_URL',
  'Release host that is asked for the latest version: a URL that answers JSON with tag_name.',
  urlOf('http', 'https').default(releaseHost),
);
