// The calls of DeepL's own client for Node.js, against the server whose address is the first argument.
// Prints what each gave, as JSON. Run by test_deepl_node.py.
const fs = require("node:fs");
const os = require("node:os");
const path = require("node:path");
const deepl = require("deepl-node");

async function refused(call) {
  try {
    await call();
    return "";
  } catch (error) {
    return `${error.constructor.name}: ${error.message}`;
  }
}

async function main(serverUrl) {
  const client = new deepl.DeepLClient("any", { serverUrl, maxRetries: 0, minTimeout: 100000 });
  const folder = fs.mkdtempSync(path.join(os.tmpdir(), "deepl-node-"));
  const said = {};

  const one = await client.translateText("one two", "en", "fr");
  said.text = [one.text, one.detectedSourceLang, one.billedCharacters];
  const several = await client.translateText(["one two", "three"], null, "fr", {
    context: "about numbers",
    formality: "more",
    splitSentences: "nonewlines",
    preserveFormatting: true,
    modelType: "quality_optimized",
  });
  said.texts = several.map((each) => each.text);
  said.html = (await client.translateText("<p>one two</p>", "en", "fr", { tagHandling: "html" })).text;

  const entries = new deepl.GlossaryEntries({ entries: { one: "un", two: "deux" } });
  const glossary = await client.createGlossary("numbers", "en", "fr", entries);
  said.glossary = [glossary.name, glossary.ready, glossary.sourceLang, glossary.targetLang, glossary.entryCount];
  said.entries = (await client.getGlossaryEntries(glossary)).entries();
  said.listed = (await client.listGlossaries()).some((each) => each.glossaryId === glossary.glossaryId);
  said.withGlossary = (await client.translateText("one two", "en", "fr", { glossary })).text;
  said.pairs = (await client.getGlossaryLanguagePairs()).map((pair) => `${pair.sourceLang}-${pair.targetLang}`);
  await client.deleteGlossary(glossary);
  said.deleted = await refused(() => client.getGlossary(glossary.glossaryId));

  const both = await client.createMultilingualGlossary("both", [
    { sourceLangCode: "en", targetLangCode: "fr", entries },
    { sourceLangCode: "fr", targetLangCode: "en", entries: new deepl.GlossaryEntries({ entries: { un: "one" } }) },
  ]);
  said.dictionaries = both.dictionaries.map((each) => [each.sourceLangCode, each.targetLangCode, each.entryCount]);
  said.renamed = (await client.updateMultilingualGlossaryName(both, "others")).name;
  await client.deleteMultilingualGlossary(both);

  const output = path.join(folder, "a.fr.txt");
  const status = await client.translateDocument(Buffer.from("one two\n"), output, "en", "fr", { filename: "a.txt" });
  said.document = [fs.readFileSync(output, "utf8"), status.status, status.billedCharacters];
  said.documentRefused = await refused(() =>
    client.translateDocument(Buffer.from("one"), path.join(folder, "b"), "en", "fr", { filename: "a.invalid" }),
  );

  const usage = await client.getUsage();
  said.usage = [usage.character.count > 0, usage.anyLimitReached()];
  said.sources = (await client.getSourceLanguages()).map((language) => language.code);
  said.targets = (await client.getTargetLanguages()).map((language) => [language.code, language.supportsFormality]);
  said.memories = await client.listTranslationMemories();
  said.unknownTarget = await refused(() => client.translateText("one", "en", "de"));
  said.rephrase = await refused(() => client.rephraseText("one", "en-US"));
  fs.rmSync(folder, { recursive: true });
  return said;
}

main(process.argv[2]).then(
  (said) => console.log(JSON.stringify(said)),
  (error) => {
    console.error(error);
    process.exitCode = 1;
  },
);
