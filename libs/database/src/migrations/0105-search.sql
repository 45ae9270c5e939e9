-- Search indexes: a table for each, with the words of each record. Triggers on the collection's table keep it.
create schema search;

-- Folds a text for search: compatible characters are one, and letters have no accents. Most texts have only ASCII.
create function system.fold_search_text(text) returns text language sql immutable strict as $$
  select case when octet_length($1) = length($1) then $1
    else normalize(regexp_replace(normalize($1, nfkd), '[\u0300-\u036f]+', '', 'g'), nfkc) end
$$;

-- Separates the letters of scripts without spaces, so that each is a word.
create function system.space_cjk(text) returns text language sql immutable strict as $$
  select regexp_replace($1,
    '([\u3005-\u3007\u3041-\u30ff\u31f0-\u31ff\u3400-\u4dbf\u4e00-\u9fff\uac00-\ud7af\uf900-\ufaff\U00020000-\U0003ffff])',
    ' \1 ', 'g')
$$;

-- Returns the texts within a JSON value.
create function system.search_json_text(jsonb) returns text language sql immutable strict as $$
  select string_agg(v #>> '{}', ' ') from jsonb_path_query($1,
    'strict $.** ? (@.type() == "string" || @.type() == "number" || @.type() == "boolean")') v
$$;

-- Returns the words of a record's texts. Between two texts their positions have a gap, so that no phrase spans both.
create function system.search_words(language text, weights text[], texts text[], room integer) returns tsvector
  language plpgsql immutable as $$
  declare
    config constant regconfig := case language when 'cjk' then 'simple' else language end;
    gap constant tsvector := '''' || chr(57344) || ''':20';
    words tsvector := '';
    piece text;
  begin
    for n in 1 .. cardinality(texts) loop
      exit when room <= 0;
      continue when texts[n] is null or texts[n] = '';
      piece := left(texts[n], room);
      room := room - length(piece);
      piece := system.fold_search_text(piece);
      if language = 'cjk' then
        piece := system.space_cjk(piece);
      end if;
      words := words || gap || setweight(to_tsvector(config, piece), weights[n]::"char");
    end loop;
    return ts_delete(words, chr(57344));
  end
$$;

-- The same for texts of any length. PostgreSQL holds a mebibyte of words for a record: of longer texts the beginning counts.
create function system.search_document(language text, weights text[], texts text[]) returns tsvector
  language plpgsql immutable as $$
  declare
    room integer := 200000;
  begin
    if length(array_to_string(texts, '')) <= 50000 then
      return system.search_words(language, weights, texts, room);
    end if;
    loop
      begin
        return system.search_words(language, weights, texts, room);
      exception when program_limit_exceeded then
        room := room / 2;
      end;
    end loop;
  end
$$;
