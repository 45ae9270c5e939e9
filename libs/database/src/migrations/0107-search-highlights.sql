-- Marks a search's words in a text and returns HTML: the part around the first of them, or null without any. `words` holds if
-- one of them is there. Of HTML only the text is shown, so its tags end up nowhere.
create function system.search_highlight(language text, content text, is_html boolean, words tsquery) returns text
  language plpgsql immutable as $$
  declare
    config constant regconfig := case language when 'cjk' then 'simple' else language end;
    most_before constant integer := 24;
    most_after constant integer := 60;
    token record;
    piece text;
    pieces text[] := '{}';
    first_at integer;
    is_cut boolean := false;
    result text;
  begin
    if content is null or numnode(words) = 0 then
      return null;
    end if;
    content := replace(left(content, 20000), chr(1), ' ');
    if language = 'cjk' then
      content := system.space_cjk(replace(content, ' ', chr(1)));
    end if;
    for token in select t.tokid, t.token from ts_parse('default', content) t loop
      -- A URL and a word with hyphens are followed by their parts.
      continue when token.tokid in (5, 15, 16, 17);
      if first_at is not null and cardinality(pieces) - first_at > most_after then
        is_cut := true;
        exit;
      end if;
      piece := case
        when is_html and token.tokid = 13 then ' '
        when is_html and token.tokid = 23 then token.token
        else replace(replace(replace(replace(token.token, '&', '&amp;'), '<', '&lt;'), '>', '&gt;'), '"', '&quot;') end;
      if token.tokid not in (12, 13, 23)
        and to_tsvector(config, left(system.fold_search_text(token.token), 500)) @@ words then
        first_at := coalesce(first_at, cardinality(pieces));
        piece := '<mark>' || piece || '</mark>';
      end if;
      pieces := pieces || piece;
      if first_at is null and cardinality(pieces) > 2 * most_before then
        pieces := '…' || pieces[cardinality(pieces) - most_before + 1:];
      end if;
    end loop;
    if first_at is null then
      return null;
    end if;
    result := array_to_string(pieces, '') || case when is_cut then '…' else '' end;
    if language = 'cjk' then
      result := replace(replace(replace(result, ' ', ''), '</mark><mark>', ''), chr(1), ' ');
    end if;
    return result;
  end
$$;
