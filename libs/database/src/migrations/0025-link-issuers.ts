/**
 * Adds the issuer to links, and has gateways look an account up again when its address is proved. Replicas of the
 * previous release write links without an issuer while they run.
 */
export const statements: readonly string[] = [
  // The issuer of a provider without one is its token address, as the settings currently have it.
  `create function system.token_address(provider text) returns text language sql stable as $$
    select case token_address.provider
      when 'google' then 'https://oauth2.googleapis.com/token'
      when 'github' then 'https://github.com/login/oauth/access_token'
      when 'gitlab' then coalesce((select rtrim(s.value, '/') from system.settings s where s.key = 'oauth2.gitlab.endpoint'),
        'https://gitlab.com') || '/oauth/token'
      when 'facebook' then 'https://graph.facebook.com/oauth/access_token'
      when 'microsoft' then 'https://login.microsoftonline.com/'
        || coalesce((select s.value from system.settings s where s.key = 'oauth2.microsoft.tenant'), 'common')
        || '/oauth2/v2.0/token'
      when 'discord' then 'https://discord.com/api/oauth2/token'
      when 'twitch' then 'https://id.twitch.tv/oauth2/token'
      when 'spotify' then 'https://accounts.spotify.com/api/token'
      when 'linkedin' then 'https://www.linkedin.com/oauth/v2/accessToken'
      when 'slack' then 'https://slack.com/api/openid.connect.token'
      when 'bitbucket' then 'https://bitbucket.org/site/oauth2/access_token'
      when 'notion' then 'https://api.notion.com/v1/oauth/token'
      when 'patreon' then 'https://www.patreon.com/api/oauth2/token'
      when 'apple' then 'https://appleid.apple.com/auth/token'
      when 'twitter' then 'https://api.x.com/2/oauth2/token'
      when 'oidc' then coalesce((select s.value from system.settings s where s.key = 'oauth2.oidc.token_url'), '')
      else '' end
  $$`,

  // Empty where the issuer is unknown: such a link signs nobody in.
  'alter table system.oauth_links add column issuer text collate "C" not null default \'\'',
  'alter table system.oauth_links add column subject text collate "C" not null default \'\'',
  'update system.oauth_links set issuer = system.token_address(provider), subject = provider_user_id',
  'create unique index oauth_links_identity on system.oauth_links (collection_id, provider, issuer, subject)',

  `create function system.complete_oauth_link() returns trigger language plpgsql as $$
  begin
    if new.subject = '' then new.subject := new.provider_user_id; end if;
    if new.issuer = '' then new.issuer := system.token_address(new.provider); end if;
    return new;
  end $$`,
  `create trigger complete_oauth_link before insert on system.oauth_links
   for each row execute function system.complete_oauth_link()`,

  `do $$
  declare name text;
  begin
    for name in select c.name from system.collections c where c.type = 'auth' loop
      execute format('create or replace trigger account_changed after update on records.%I for each row
        when ((old.token_version, old.email, old.verified, old.is_anonymous)
          is distinct from (new.token_version, new.email, new.verified, new.is_anonymous))
        execute function system.account_changed()', name);
    end loop;
  end $$`,
];
