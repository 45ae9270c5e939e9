import type { Logger } from '@recordbus/process/logging';
import type { OauthProviderName, Settings } from '@recordbus/settings';
import type { Discover } from '../discovery.ts';
import type { Provider } from '../provider.ts';
import type { ProviderHttp } from '../provider-http.ts';
import { createApple } from './apple.ts';
import { bitbucket } from './bitbucket.ts';
import { discord } from './discord.ts';
import { facebook } from './facebook.ts';
import { github } from './github.ts';
import { gitlab } from './gitlab.ts';
import { google } from './google.ts';
import { linkedin } from './linkedin.ts';
import { microsoft } from './microsoft.ts';
import { notion } from './notion.ts';
import { oidcOfSettings } from './oidc.ts';
import { patreon } from './patreon.ts';
import { slack } from './slack.ts';
import { spotify } from './spotify.ts';
import { twitch } from './twitch.ts';
import { twitter } from './twitter.ts';

interface ProviderDeps {
  readonly settings: Pick<Settings, 'get'>;
  readonly http: ProviderHttp;
  readonly discover: Discover;
  readonly log: Logger;
  readonly nowSec: () => number;
}

/** Creates the provider table (oauth §1.1). Each call to a row reads the current settings. */
export function createProviderTable(deps: ProviderDeps): Readonly<Record<OauthProviderName, () => Provider>> {
  const { settings } = deps;
  return {
    google: () => google,
    github: () => github,
    gitlab: () => gitlab(settings),
    facebook: () => facebook,
    microsoft: () => microsoft(settings),
    discord: () => discord,
    twitch: () => twitch,
    spotify: () => spotify,
    linkedin: () => linkedin,
    slack: () => slack,
    bitbucket: () => bitbucket,
    notion: () => notion,
    patreon: () => patreon,
    apple: createApple(deps),
    twitter: () => twitter,
    oidc: () => oidcOfSettings(settings, deps.discover),
  };
}
