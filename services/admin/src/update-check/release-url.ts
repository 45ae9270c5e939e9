import { urlOf, variable } from '@recordbus/process/config';

/** The project's latest release: JSON with `tag_name`. */
const releaseHost = 'https://api.github.com/repos/recordbus/recordbus/releases/latest';

/** The latest release's URL, for the update checker (operation §7). */
export const releaseUrl = variable(
  'SERVICE_RELEASE_URL',
  'URL for the latest release, which answers JSON with tag_name.',
  urlOf('http', 'https').default(releaseHost),
);
