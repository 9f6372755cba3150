<?xml version="1.0" encoding="utf-8"?>
<!DOCTYPE TS><TS version="2.0" language="nl_NL" sourcelanguage="">
<context>
    <name>bootstrapconda</name>
    <message>
        <location filename="../../util/bootstrapconda.py" line="116"/>
        <source>This will download and install miniconda on your computer.</source>
        <translation></translation>
    </message>
    <message>
        <location filename="../../util/bootstrapconda.py" line="120"/>
        <source>Also install scientific packages</source>
        <translation></translation>
    </message>
    <message>
        <location filename="../../util/bootstrapconda.py" line="143"/>
        <source>Waiting to start installation.
</source>
        <translation></translation>
    </message>
</context>
<context>
    <name>debug</name>
    <message>
        <location filename="../../core/shellStack.py" line="488"/>
        <source>Stack</source>
        <translation>Stack</translation>
    </message>
</context>
<context>
    <name>editor</name>
    <message>
        <location filename="../../core/editorTabs.py" line="1419"/>
        <source>Close, Discard, Cancel, Save</source>
        <translation>Sluiten, Verwerpen, Annuleren, Opslaan</translation>
    </message>
    <message>
        <location filename="../../core/editorTabs.py" line="1446"/>
        <source>Closing</source>
        <translation>Sluiten</translation>
    </message>
    <message>
        <location filename="../../core/editorTabs.py" line="1446"/>
        <source>Save modified file?</source>
        <translation>Gewijzigd bestand sluiten?</translation>
    </message>
    <message>
        <location filename="../../core/editorTabs.py" line="1489"/>
        <source>Closing pinned</source>
        <translation>Sluiten van gepint bestand</translation>
    </message>
    <message>
        <location filename="../../core/editorTabs.py" line="1489"/>
        <source>Are you sure you want to close this pinned file?</source>
        <translation>Weet je zeker dat je het vastgepinde bestand wilt sluiten?</translation>
    </message>
</context>
<context>
    <name>editorTabs</name>
    <message>
        <location filename="../../core/editorTabs.py" line="1159"/>
        <source>Select one or more files to open</source>
        <translation>Selecteer een of meer bestanden om te openen</translation>
    </message>
    <message>
        <location filename="../../core/editorTabs.py" line="1336"/>
        <source>Select the file to save to</source>
        <translation>Selecteer het bestand om de code in op te slaan</translation>
    </message>
</context>
<context>
    <name>filebrowser</name>
    <message>
        <location filename="../../tools/pyzoFileBrowser/browser.py" line="45"/>
        <source>Filename filter</source>
        <translation>Bestandsnaam filter</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/browser.py" line="50"/>
        <source>Search in files</source>
        <translation>Zoek in bestanden</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/browser.py" line="445"/>
        <source>Projects:</source>
        <translation>Projecten:</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/browser.py" line="459"/>
        <source>Remove project</source>
        <translation>Verwijder project</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/browser.py" line="464"/>
        <source>Change project name</source>
        <translation>Verander de naam van dit project</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/browser.py" line="471"/>
        <source>Add path to Python path</source>
        <translation>Voeg directory toe aan Pythonpath</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/browser.py" line="497"/>
        <source>Project name</source>
        <translation>Project naam</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/browser.py" line="497"/>
        <source>New project name:</source>
        <translation>Nieuwe project naam:</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/browser.py" line="650"/>
        <source>Match case</source>
        <translation>Hoofdlettergevoelig</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/browser.py" line="651"/>
        <source>RegExp</source>
        <translation>RegExp</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/browser.py" line="652"/>
        <source>Search in subdirs</source>
        <translation>Zoek in subdirectories</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/tree.py" line="817"/>
        <source>Open</source>
        <translation>Openen</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/tree.py" line="835"/>
        <source>Reveal in Finder</source>
        <translation>Laat zien in Finder</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/tree.py" line="964"/>
        <source>Rename</source>
        <translation>Hernoemen</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/tree.py" line="989"/>
        <source>Delete</source>
        <translation>Verwijderen</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/tree.py" line="935"/>
        <source>Create new file</source>
        <translation>Maak nieuw bestand</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/tree.py" line="938"/>
        <source>Create new directory</source>
        <translation>Maak nieuwe directorie</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/tree.py" line="965"/>
        <source>Give the new name for the file</source>
        <translation>Geef de nieuwe naam voor het bestand</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/tree.py" line="939"/>
        <source>Give the name for the new directory</source>
        <translation>Geef de naam voor de directorie</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/tree.py" line="967"/>
        <source>Duplicate</source>
        <translation>Dupliceren</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/tree.py" line="968"/>
        <source>Give the name for the new file</source>
        <translation>Geef de naam van het nieuwe bestand</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/tree.py" line="989"/>
        <source>Are you sure that you want to delete</source>
        <translation>Weet je zeker dat je wilt verwijderen</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/tree.py" line="838"/>
        <source>Copy path</source>
        <translation>Kopier directorie pad</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/browser.py" line="450"/>
        <source>Click star to bookmark current dir</source>
        <translation>Klik de ster om de huidige dir op te slaan</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/tree.py" line="810"/>
        <source>Unstar this directory</source>
        <translation>Verwijder deze dir uit de projecten</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/tree.py" line="812"/>
        <source>Star this directory</source>
        <translation>Voeg deze dir toe aan de projecten</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/browser.py" line="480"/>
        <source>Go to this directory in the current shell</source>
        <translation>Ga naar deze directorie in de huidige shell</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/tree.py" line="825"/>
        <source>Import data...</source>
        <translation>Importeer data...</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/tree.py" line="819"/>
        <source>Run as script</source>
        <translation>Uitvoeren als script</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/tree.py" line="832"/>
        <source>Open outside Pyzo</source>
        <translation>Open buiten Pyzo</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/tree.py" line="822"/>
        <source>Run Jupyter notebook</source>
        <translation>Voer uit in de Jupyter notebook</translation>
    </message>
</context>
<context>
    <name>importwizard</name>
    <message>
        <location filename="../../tools/pyzoFileBrowser/importwizard.py" line="69"/>
        <source>Select file</source>
        <translation>Selecteer bestand</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/importwizard.py" line="72"/>
        <source>Browse...</source>
        <translation>Browse ...</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/importwizard.py" line="83"/>
        <source>Preview:</source>
        <translation>Voorbeeld:</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/importwizard.py" line="174"/>
        <source>Select columns to import:</source>
        <translation>Selecteer colummen om te importeren:</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/importwizard.py" line="394"/>
        <source>Close</source>
        <translation>Sluiten</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/importwizard.py" line="397"/>
        <source>Import data as single array</source>
        <translation>Importeer data als een enkelvoudig array</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/importwizard.py" line="398"/>
        <source>Import data into one variable per column</source>
        <translation>Importeer data in een variabele per kollom</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/importwizard.py" line="401"/>
        <source>Raise error upon invalid data</source>
        <translation>Geef foutmelding als de data niet juist is</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/importwizard.py" line="534"/>
        <source>Import data wizard</source>
        <translation>Data importeer hulp</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/importwizard.py" line="476"/>
        <source>No current shell active</source>
        <translation>Er is nu geen shell aktief</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/importwizard.py" line="486"/>
        <source>No current file open</source>
        <translation>Er is nu geen bestand open</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/importwizard.py" line="521"/>
        <source>Import data</source>
        <translation>Importeed data</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/importwizard.py" line="534"/>
        <source>The import data wizard is already open</source>
        <translation>The importeerhulp is al open</translation>
    </message>
</context>
<context>
    <name>main</name>
    <message>
        <location filename="../../core/main.py" line="224"/>
        <source>unsaved</source>
        <translation>niet opgeslagen</translation>
    </message>
</context>
<context>
    <name>menu</name>
    <message>
        <location filename="../../core/menu.py" line="38"/>
        <source>File</source>
        <translation>Bestand</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="39"/>
        <source>Edit</source>
        <translation>Bewerken</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="40"/>
        <source>View</source>
        <translation>Uiterlijk</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="41"/>
        <source>Settings</source>
        <translation>Instellingen</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="42"/>
        <source>Shell</source>
        <translation>Shell</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="43"/>
        <source>Run</source>
        <translation>Uitvoeren</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="44"/>
        <source>Tools</source>
        <translation>Gereedschap</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="45"/>
        <source>Help</source>
        <translation>Help</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="418"/>
        <source>Use tabs</source>
        <translation>Gebruik tabs</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="420"/>
        <source>Use spaces</source>
        <translation>Gebruik spaties</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="424"/>
        <source>spaces</source>
        <comment>plural of spacebar character</comment>
        <translation>spaties</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="448"/>
        <source>Indentation ::: The indentation used of the current file.</source>
        <translation>Inspring niveau ::: The mate van inspringen voor het huidige bestand.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="453"/>
        <source>Syntax parser ::: The syntax parser of the current file.</source>
        <translation>Syntax parser ::: De syntax parser voor het huidige bestand.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="458"/>
        <source>Line endings ::: The line ending character of the current file.</source>
        <translation>Regel uiteinden ::: Het soort regel uiteinden van het huidige bestand.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="463"/>
        <source>Encoding ::: The character encoding of the current file.</source>
        <translation>Codering ::: The karakter codering voor het huidige bestand.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="471"/>
        <source>New ::: Create a new (or temporary) file.</source>
        <translation>Nieuw ::: Maak een nieuw (of tijdelijk) bestand.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="473"/>
        <source>Open... ::: Open an existing file from disk.</source>
        <translation>Open ::: Open een bestaand bestand.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1265"/>
        <source>Save ::: Save the current file to disk.</source>
        <translation>Opslaan ::: Sla het huidige bestand op.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1267"/>
        <source>Save as... ::: Save the current file under another name.</source>
        <translation>Opslaan als ... ::: Sla het huidige bestand op onder een andere naam.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="481"/>
        <source>Save all ::: Save all open files.</source>
        <translation>Alles opslaan ::: Sla alle geopende bestanden op.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1269"/>
        <source>Close ::: Close the current file.</source>
        <translation>Sluiten ::: Sluit het huidige bestand.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1273"/>
        <source>Close all ::: Close all files.</source>
        <translation>Alles sluiten ::: Sluit alle geopende bestanden.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="594"/>
        <source>Undo ::: Undo the latest editing action.</source>
        <translation>Ongedaan maken ::: Maak de laatste bewerking ongedaan.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1198"/>
        <source>Cut ::: Cut the selected text.</source>
        <translation>Knippen</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1200"/>
        <source>Copy ::: Copy the selected text to the clipboard.</source>
        <translation>Kopieren</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1202"/>
        <source>Paste ::: Paste the text that is now on the clipboard.</source>
        <translation>Plakken</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1204"/>
        <source>Select all ::: Select all text.</source>
        <translation>Alles selecteren</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1207"/>
        <source>Indent ::: Indent the selected line.</source>
        <translation>Inspringen ::: Spring de geselecteerde regel in.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1209"/>
        <source>Dedent ::: Unindent the selected line.</source>
        <translation>Terugspringen ::: Zet het inspringen een stap kleiner.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1211"/>
        <source>Comment ::: Comment the selected line.</source>
        <translation>Commentaar ::: Voeg een commentaar teken toe aan de geselecteerde regel.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1213"/>
        <source>Uncomment ::: Uncomment the selected line.</source>
        <translation>Verwijder commentaar ::: Verwijder een commentaar teken van de huidige regel.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1215"/>
        <source>Justify comment/docstring::: Reshape the selected text so it is aligned to around 70 characters.</source>
        <translation>Uitlijnen commentaar of docstring ::: Hervorm de geselecteerde tekst door het uit te lijnen op 70 karakters.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="620"/>
        <source>Go to line ::: Go to a specific line number.</source>
        <translation>Ga naar regel ::: Ga naar een specifiek regel nummer.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="627"/>
        <source>Toggle breakpoint ::: Toggle breakpoint on the current line.</source>
        <translation>Zet breakpoint aan of uit</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1223"/>
        <source>Find or replace ::: Show find/replace widget. Initialize with selected text.</source>
        <translation>Vind of vervang ::: Laat het vind/vervang paneel zien. Initializeer met de geselecteerde tekst.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1225"/>
        <source>Find selection ::: Find the next occurrence of the selected text.</source>
        <translation>Vind selectie ::: Vind het volgende voorkomen van de geselecteerde tekst.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1227"/>
        <source>Find selection backward ::: Find the previous occurrence of the selected text.</source>
        <translation>Vind vorige selectie ::: Vind het vorige voorkomen van de geselecteerde tekst.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="639"/>
        <source>Find next ::: Find the next occurrence of the search string.</source>
        <translation>Vind volgende ::: Vind het volgende voorkomen van de zoek tekst.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="641"/>
        <source>Find previous ::: Find the previous occurrence of the search string.</source>
        <translation>Vind vorige ::: Vind het vorige voorkomen van de zoek tekst.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1752"/>
        <source>Accept autocompletion with:</source>
        <translation>Accepteer autocompletion met:</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="659"/>
        <source>Zoom in</source>
        <translation>Inzoomen</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="660"/>
        <source>Zoom out</source>
        <translation>Uitzoomen</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="661"/>
        <source>Zoom reset</source>
        <translation>Reset zoom</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="723"/>
        <source>Qt theme ::: The styling of the user interface widgets.</source>
        <translation>Qt thema ::: De stijl van de gebruikersinterface.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="736"/>
        <source>Select shell ::: Focus the cursor on the current shell.</source>
        <translation>Selecteer shell ::: Focus de cursor op de huidige shell.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="738"/>
        <source>Select editor ::: Focus the cursor on the current editor.</source>
        <translation>Selecteer editor ::: Focus de cursor op de huidige editor.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="740"/>
        <source>Select previous file ::: Select the previously selected file.</source>
        <translation>Selecteer vorige bestand</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="743"/>
        <source>Show whitespace ::: Show spaces and tabs.</source>
        <translation>Laat whitespace zien ::: Laat spaties en tabs zien.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="745"/>
        <source>Show line endings ::: Show the end of each line.</source>
        <translation>Laat regeluiteindes zien</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="747"/>
        <source>Show indentation guides ::: Show vertical lines to indicate indentation.</source>
        <translation>Laat inspring hulplijnen zien</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="750"/>
        <source>Wrap long lines ::: Wrap lines that do not fit on the screen (i.e. no horizontal scrolling).</source>
        <translation>Vouw lange regels ::: Vouw lange regels als ze niet op het scherm passen.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="752"/>
        <source>Highlight current line ::: Highlight the line where the cursor is.</source>
        <translation>Markeer huidige regel ::: Geef de huidige regel een andere achtergrondkleur.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="768"/>
        <source>Zooming</source>
        <translation>Zoomen</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="945"/>
        <source>Clear screen ::: Clear the screen.</source>
        <translation>Maak scherm schoon</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="947"/>
        <source>Interrupt ::: Interrupt the current running code (does not work for extension code).</source>
        <translation>Onderbreken ::: Onderbreek de nu uitgevoerde code (werkt niet voor extension-code).</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="949"/>
        <source>Restart ::: Terminate and restart the interpreter.</source>
        <translation>Herstart ::: Stop en herstart de interpreter.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="951"/>
        <source>Terminate ::: Terminate the interpreter, leaving the shell open.</source>
        <translation>Stoppen ::: Stop de interpreter, maar laat de shell open.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="953"/>
        <source>Close ::: Terminate the interpreter and close the shell.</source>
        <translation>Afsluiten ::: Stop de interpreter en sluit de shell af.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1073"/>
        <source>Edit shell configurations... ::: Add new shell configs and edit interpreter properties.</source>
        <translation>Aanpassen shell configuraties... ::: Voeg shell configuraties toe en pas de eigenschappen aan.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1076"/>
        <source>New shell ... ::: Create new shell to run code in.</source>
        <translation>Nieuwe shell ... ::: Maak een nieuwe shell aan om code in uit te voeren.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1271"/>
        <source>Close others::: Close all files but this one.</source>
        <translation>Anderen sluiten ::: Sluit alle bestanden behalve deze.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1275"/>
        <source>Rename ::: Rename this file.</source>
        <translation>Hernoemen ::: Hernoem dit bestand.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1279"/>
        <source>Copy path ::: Copy the full path of this file.</source>
        <translation>Kopieer path</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1286"/>
        <source>Pin/Unpin ::: Pinned files get closed less easily.</source>
        <translation>Vastpinnen/ontpinnen :::Pin dit bestand vast.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1288"/>
        <source>Set/Unset as MAIN file ::: The main file can be run while another file is selected.</source>
        <translation>Stel dit bestand in als MAIN bestand/gewoon bestand.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1292"/>
        <source>Run file ::: Run the code in this file.</source>
        <translation>Voer bestand uit ::: Voer de code in dit bestand uit.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1294"/>
        <source>Run file as script ::: Run this file as a script (restarts the interpreter).</source>
        <translation>Voer bestand uit als script ::: Voer de code in dit bestand uit als script (dit herstart de interpreter).</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1232"/>
        <source>Run selection ::: Run the current editor&apos;s selected lines, selected words on the current line, or current line if there is no selection.</source>
        <translation>Voer selectie uit ::: Uitvoeren van: huidig geselecteerde regels, geselecteerde woorden op een regel, of de huidige regel als er geen selectie is.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1628"/>
        <source>Reload tools ::: For people who develop tools.</source>
        <translation>Herlaad gereedschap.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1663"/>
        <source>Ask a question ::: Need help?</source>
        <translation>Stel een vraag</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1816"/>
        <source>Automatically indent ::: Indent when pressing enter after a colon.</source>
        <translation>Automatisch inspringen ::: Inspringen bij een nieuwe regel na een dubbele punt.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1818"/>
        <source>Enable calltips ::: Show calltips with function signatures.</source>
        <translation>Pas uitvoertips toe ::: Laat uitvoertips zien.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1760"/>
        <source>Autocomplete keywords ::: The autocompletion list includes keywords.</source>
        <translation>Autocomplete keywords ::: De autocomple lijst laat ook keywords zien.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1824"/>
        <source>Edit key mappings... ::: Edit the shortcuts for menu items.</source>
        <translation>Bewerk  sneltoetsen...</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1826"/>
        <source>Edit syntax styles... ::: Change the coloring of your code.</source>
        <translation>Bewerk syntax stijlen...</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="715"/>
        <source>Location of long line indicator ::: The location of the long-line-indicator.</source>
        <translation>Locatie van de lange-regel indicator</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="767"/>
        <source>Font</source>
        <translation>Lettertype</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="963"/>
        <source>Debug next: proceed until next line</source>
        <translation>Debug volgende: ga een regel verder</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="967"/>
        <source>Debug return: proceed until returns</source>
        <translation>Debug return: ga verder tot function return</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="969"/>
        <source>Debug continue: proceed to next breakpoint</source>
        <translation>Debug verder: ga verder tot volgend breakpoint</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="971"/>
        <source>Stop debugging</source>
        <translation>Stop debuggen</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="991"/>
        <source>Clear all {} breakpoints</source>
        <translation>Verwijder alle {} breakpoints</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="993"/>
        <source>Postmortem: debug from last traceback</source>
        <translation>Postmortem: debuggen met laatste traceback </translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="965"/>
        <source>Debug step into: proceed one step</source>
        <translation>Debug instappen: ga een stap verder</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1352"/>
        <source>Run file as script ::: Restart and run the current file as a script.</source>
        <translation>Voer bestand uit als script ::: Herstart en voer het huidige bestand uit als script.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1354"/>
        <source>Run main file as script ::: Restart and run the main file as a script.</source>
        <translation>Voer main bestand uit als script ::: Herstart en voer het main bestand uit als script.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1359"/>
        <source>Execute selection ::: Execute the current editor&apos;s selected lines, selected words on the current line, or current line if there is no selection.</source>
        <translation>Executeer selectie ::: Executeer de geselecteerde regels, de geselecteerde text op de huidige regel, of the huidige regel als er geen selectie is.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1361"/>
        <source>Execute cell ::: Execute the current editors&apos;s cell in the current shell.</source>
        <translation>Executeer cell ::: Executeer de huidige cell.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1374"/>
        <source>Execute cell and advance ::: Execute the current editors&apos;s cell and advance to the next cell.</source>
        <translation>Executeer cell en ga verder ::: Executeer de huidige cell en ga verder naar de volgende cell.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1365"/>
        <source>Execute file ::: Execute the current file in the current shell.</source>
        <translation>Executeer bestand ::: Executeer het huidige bestand.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1367"/>
        <source>Execute main file ::: Execute the main file in the current shell.</source>
        <translation>Executeer main bestand ::: Executeer het main bestand in de huidige shell. </translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="487"/>
        <source>Export to PDF ::: Export current file to PDF (e.g. for printing).</source>
        <translation>Exporteer naar PDF</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="605"/>
        <source>Paste and select ::: Paste the text that is now on the clipboard and keep it selected in order to change its indentation.</source>
        <translation>Plakken en selecteren ::: Plak the tekst op het clipbord en behoud de selectie om de indentatie aan te kunnen passen.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="757"/>
        <source>Previous cell ::: Go back to the previous cell.</source>
        <translation>Vorige cell ::: ga terug naar de vorige cell.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="759"/>
        <source>Next cell ::: Advance to the next cell.</source>
        <translation>Volgende cell ::: ga verder naar de volgende cell.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="761"/>
        <source>Previous object ::: Go back to the previous top-level structure.</source>
        <translation>Vorige object ::: ga terug naar het vorige top-level object.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="763"/>
        <source>Next object ::: Advance to the next top-level structure.</source>
        <translation>Volgende object ::: ga verder naar het volgende top-level object.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1218"/>
        <source>Goto Definition ::: Go to definition of word under cursor.</source>
        <translation>Ga naar definitie ::: Ga naar de definitie onder de cursor.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="502"/>
        <source>Restart Pyzo ::: Restart the application.</source>
        <translation>Pyzo herstarten</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="504"/>
        <source>Quit Pyzo ::: Close the application.</source>
        <translation>Pyzo afsluiten</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1005"/>
        <source>Create new Python environment... ::: Install miniconda.</source>
        <translation>Creeer een nieuwe Python omgeving ::: Installeer miniconda</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1381"/>
        <source>Help on running code ::: Open the pyzo wizard at the page about running code.</source>
        <translation>Help over het uitvoeren van code</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1665"/>
        <source>Report an issue ::: Did you found a bug in Pyzo, or do you have a feature request?</source>
        <translation>Rapporteer een probleem</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1673"/>
        <source>Check for updates ::: Are you using the latest version?</source>
        <translation>Kijk of er updates zijn</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1676"/>
        <source>About Pyzo ::: More information about Pyzo.</source>
        <translation>Over Pyzo</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1810"/>
        <source>Select language ::: The language used by Pyzo.</source>
        <translation>Selecteer taal</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1829"/>
        <source>Advanced settings... ::: Configure Pyzo even further.</source>
        <translation>Geavanceerde instellingen</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1654"/>
        <source>Pyzo website ::: Open the Pyzo website in your browser.</source>
        <translation>Pyzo&apos;s website</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1656"/>
        <source>Pyzo guide ::: Open the Pyzo guide in your browser.</source>
        <translation>Pyzo&apos;s instructies</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1667"/>
        <source>Local documentation ::: Documentation on Python and the Scipy Stack.</source>
        <translation>Locale documentatie</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="754"/>
        <source>Highlight brackets ::: Highlight matched and unmatched brackets.</source>
        <translation>Geef corresponderende haken aan</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1409"/>
        <source>There is no main file selected.</source>
        <translation>Er is geen main bestand geselecteerd</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1577"/>
        <source> (as script)</source>
        <translation>(als script)</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1609"/>
        <source>Could not save the file.</source>
        <translation>Can het bestand niet opslaan</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1611"/>
        <source>Can only run scripts that are in the file system.</source>
        <translation>Kan alleen bestanden uitvoeren die op het bestandssysteem staan</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1658"/>
        <source>Pyzo wizard ::: Get started quickly.</source>
        <translation>Pyzo&apos;s wizard</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="718"/>
        <source>None</source>
        <translation>Niets</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1088"/>
        <source>Create shell %s: (%s)</source>
        <translation>Maak shell %s: (%s)</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1372"/>
        <source>Execute selection and advance</source>
        <translation>Voer selectie uit en ga verder</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1737"/>
        <source>No autocompletion</source>
        <translation>Geen autocompletion</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1738"/>
        <source>Automatic popup</source>
        <translation>Automatische popup</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1739"/>
        <source>Only show popup when pressing Tab</source>
        <translation>Laal alleen popup zien door Tab te gebruiken</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1821"/>
        <source>Autocompletion</source>
        <translation>Autocompletion</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoHistoryViewer.py" line="54"/>
        <source>Search</source>
        <translation>Zoeken</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoHistoryViewer.py" line="63"/>
        <source>History</source>
        <translation>Geschiedenis</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoHistoryViewer.py" line="64"/>
        <source>Copy ::: Copy selected lines</source>
        <translation>Kopieer</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoHistoryViewer.py" line="66"/>
        <source>Run ::: Run selected lines in current shell</source>
        <translation>Uitvoeren ::: geselecteerde regels uitvoeren in huidige shell</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoHistoryViewer.py" line="68"/>
        <source>Remove ::: Remove selected history items(s)</source>
        <translation>Verwijderen ::: verwijder de geselecteerde items uit de geschiedenis</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="622"/>
        <source>Duplicate line ::: Duplicate the selected line(s).</source>
        <translation>Dupliceer regel ::: Dupliceer de geselecteerde regel(s)</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="624"/>
        <source>Delete line ::: Delete the selected line(s).</source>
        <translation>Verwijder regel ::: Verwijder de huidige regel(s)</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="731"/>
        <source>default</source>
        <translation>standaard</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1125"/>
        <source>Open current directory in file browser</source>
        <translation>Open huidige directory in de file browser</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1127"/>
        <source>Change current directory to the file browser&apos;s path</source>
        <translation>Verander huidige directoru naar huidige pad in file browser</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1281"/>
        <source>Open directory in file browser</source>
        <translation>Open directory in file browser</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1403"/>
        <source>No shell to run code in.</source>
        <translation>Geen shell om code in uit te voeren</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1413"/>
        <source>No editor selected.</source>
        <translation>Geen editor geselecteerd</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1129"/>
        <source>Change current directory to editor file path</source>
        <translation>Verander huidige directory naar directory van bestand in editor</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1379"/>
        <source>Change directory when executing file ::: like Run File As Script does</source>
        <translation>Verander directory als een file uitgevoerd wordt.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="630"/>
        <source>Toggle Case ::: Change selected text to lower or upper case</source>
        <translation>Converteer van/naar hoofdletters</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1766"/>
        <source>Auto close quotes ::: Auto close single and double quotes.</source>
        <translation>Automatische aanhalingstekens</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1769"/>
        <source>Auto close brackets ::: Auto close ( { [ ] } ).</source>
        <translation>Automatisch aanhalingstekens sluiten</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1747"/>
        <source>Tab</source>
        <translation>Tab</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1748"/>
        <source>Enter</source>
        <translation>Enter</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1749"/>
        <source>Tab, Enter</source>
        <translation>Tab of Enter</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1750"/>
        <source>Tab, (, [</source>
        <translation>Tab, (, [
</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1751"/>
        <source>Tab, Enter, (, [</source>
        <translation></translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="596"/>
        <source>Redo ::: Redo the last undone editing action.</source>
        <translation>Opnieuw doen</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1193"/>
        <source>Help on this expression ::: Show help for the selected expression.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>menu dialog</name>
    <message>
        <location filename="../../tools/pyzoFileBrowser/tree.py" line="895"/>
        <source>Could not run</source>
        <translation>Kon niet uitvoeren</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1615"/>
        <source>Could not run script.</source>
        <translation>Kon script niet uitvoeren.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1707"/>
        <source>Check for the latest version.</source>
        <translation>Check laatste versie.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="2087"/>
        <source>Edit shortcut mapping</source>
        <translation>Pas sneltoetsen aan</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="2231"/>
        <source>Shortcut mappings</source>
        <translation>Sneltoets lijst</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1853"/>
        <source>Language changed</source>
        <translation>Taal aangepast</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoFileBrowser/tree.py" line="908"/>
        <source>Could not run notebook</source>
        <translation>Kan niet uitvoeren in de notebook</translation>
    </message>
    <message>
        <location filename="../../core/about.py" line="15"/>
        <source>About Pyzo</source>
        <translation>Over pyzo</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1848"/>
        <source>
        The language has been changed.
        Pyzo needs to restart for the change to take effect.
        </source>
        <translation>De taal is aangepast
Herstart Pyzo om de verandering door te voeren.</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="1155"/>
        <source>Could not change dir</source>
        <translation>Kon de directory niet veranderen</translation>
    </message>
    <message>
        <location filename="../../core/menu.py" line="2317"/>
        <source>Advanced Settings</source>
        <translation>Geavanceerde instellingen</translation>
    </message>
</context>
<context>
    <name>pyzoFileBrowser</name>
    <message>
        <location filename="../../tools/pyzoFileBrowser/__init__.py" line="8"/>
        <source>File Browser</source>
        <translation>Bestanden browser</translation>
    </message>
</context>
<context>
    <name>pyzoHistoryViewer</name>
    <message>
        <location filename="../../tools/pyzoHistoryViewer.py" line="20"/>
        <source>History viewer</source>
        <translation>Geschiedenis</translation>
    </message>
</context>
<context>
    <name>pyzoInteractiveHelp</name>
    <message>
        <location filename="../../tools/pyzoInteractiveHelp.py" line="14"/>
        <source>Interactive help</source>
        <translation>Interactieve help</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoInteractiveHelp.py" line="15"/>
        <source>Shows help on an object when using up/down in autocomplete.</source>
        <translation>Laat help info zien van een object tijdens auto-completion</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoInteractiveHelp.py" line="215"/>
        <source>
Help information is queried from the current shell
when moving up/down in the autocompletion list
and when double clicking on a name.
</source>
        <translation></translation>
    </message>
    <message>
        <location filename="../../tools/pyzoInteractiveHelp.py" line="355"/>
        <source>Smart format</source>
        <translation>Slim formatten</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoInteractiveHelp.py" line="366"/>
        <source>Font size: %i</source>
        <translation>Text grootte: %i</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoInteractiveHelp.py" line="43"/>
        <source>This keyword introduces the definition of a class.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <location filename="../../tools/pyzoInteractiveHelp.py" line="113"/>
        <source>This keyword introduces the definition of a function.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <location filename="../../tools/pyzoInteractiveHelp.py" line="176"/>
        <source>No help is available for operators because they are ambiguous: their meaning depend on the type of the first operand.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <location filename="../../tools/pyzoInteractiveHelp.py" line="332"/>
        <source>Help on this</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <location filename="../../tools/pyzoInteractiveHelp.py" line="18"/>
        <source>Suspend the execution of coroutine on an awaitable object. Can only be used inside a coroutine function.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <location filename="../../tools/pyzoInteractiveHelp.py" line="19"/>
        <source>This keyword can appear as part of an alternative (see: ``if``), a loop (see: ``for``, ``while``) or a ``try`` statement.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <location filename="../../tools/pyzoInteractiveHelp.py" line="20"/>
        <source>Find and load modules or members of modules.
    
Examples:
```
import foo                 # foo imported and bound locally
import foo.bar.baz         # foo.bar.baz imported, foo bound locally
import foo.bar.baz as fbb  # foo.bar.baz imported and bound as fbb
from foo.bar import baz    # foo.bar.baz imported and bound as baz
from foo import attr       # foo imported and foo.attr bound as attr
from foo import *          # foo imported and all its members bound
                                    # under their respective names
```</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <location filename="../../tools/pyzoInteractiveHelp.py" line="32"/>
        <source>This is an instruction that does nothing. It is useful in cases where a statement must appear because of syntactic constraints but we have nothing to do.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <location filename="../../tools/pyzoInteractiveHelp.py" line="33"/>
        <source>This keyword can only appear in the body of a ``for`` or ``while`` loop. It terminates the loop early, regardless of the loop condition.

See also: ``continue``</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <location filename="../../tools/pyzoInteractiveHelp.py" line="36"/>
        <source>An ``except`` clause can appear as a part of a ``try`` statement.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <location filename="../../tools/pyzoInteractiveHelp.py" line="37"/>
        <source>This keyword usually refers to membership of an object in a structure. There are actually two different kinds of ``in``.

In a construct of the form ``for identifier in iterable``, ``in`` is a purely syntactic element that bears no meaning per se. See: ``for``

Outside such constructs, ``in`` is an operator and its precise meaning depends on the type of the first operand.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <location filename="../../tools/pyzoInteractiveHelp.py" line="42"/>
        <source>The ``raise`` statement is used to raise an Exception. Raising an exception will cause the program to abort, unless the exception is handled by a surrounding ``try``/``except`` statement or ``with`` statement.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <location filename="../../tools/pyzoInteractiveHelp.py" line="44"/>
        <source>An ``finally`` clause can appear as a part of a ``try`` statement.</source>
        <translation type="unfinished"></translation>
    </message>
    <message encoding="UTF-8">
        <location filename="../../tools/pyzoInteractiveHelp.py" line="45"/>
        <source>This operator tests for an object’s identity: ``x is y`` is true if and only if ``x`` and ``y`` are the same object.

See also: ``id``</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <location filename="../../tools/pyzoInteractiveHelp.py" line="48"/>
        <source>This keyword can only appear in the definition of a function. It is usually followed by an expression. It means that the execution of the function call terminates here and that the result of the call is the value of the following expression. If ``return`` is not followed by an expression, the result is ``None``.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <location filename="../../tools/pyzoInteractiveHelp.py" line="49"/>
        <source>This operator computes the boolean conjunction in a lazy manner. More precisely, the expression ``x and y`` first evaluates ``x``; if ``x`` is false, its value is returned; otherwise, ``y`` is evaluated and the resulting value is returned.

See also: ``or``, ``not``, ``True``, ``False``</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <location filename="../../tools/pyzoInteractiveHelp.py" line="52"/>
        <source>This keyword can only appear in the body of a ``for`` or ``while`` loop. It terminates the current run of the body early. The loop may still make additional runs of its body if its condition is still true .

See also: ``break``</source>
        <translation type="unfinished"></translation>
    </message>
    <message encoding="UTF-8">
        <location filename="../../tools/pyzoInteractiveHelp.py" line="55"/>
        <source>The ``for`` statement is used to iterate over the elements of an iterable object:

```
for variable in iterable:
    body
else:       # optional
    suite
```
The expression ``iterable`` is evaluated once; its value should be an iterable object. An iterator is created for the result of that expression. The ``body`` is then executed once for each item provided by the iterator, in the order returned by the iterator: each item in turn is assigned to the ``variable`` and then the ``body`` is executed. When the items are exhausted (which is immediately when the ``iterable`` is empty), the ``suite`` in the ``else`` clause, if present, is executed, and the loop terminates.

A ``break`` statement executed in the first suite terminates the loop without executing the ``else`` clause’s ``suite``. A ``continue`` statement executed in the first suite skips the rest of the ``body`` and continues with the next item, or with the ``else`` clause if there is no next item.

The for-loop makes assignments to the ``variable``. This overwrites all previous assignments to that variable including those made in the ``body`` of the for-loop:
```
for i in range(10):
    print(i)
    i = 5             # this will not affect the for-loop
                      # because i will be overwritten with the next
                      # index in the range
```

The ``for`` keyword can also be part of a generator.

Example:
```
[2*x for x in T]
```
This builds from ``T`` a list where each item was doubled.
</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <location filename="../../tools/pyzoInteractiveHelp.py" line="84"/>
        <source>This keyword is used to produce an anonymous function.

Example: 
```
lambda x,y,z : (x+y) * z
```</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <location filename="../../tools/pyzoInteractiveHelp.py" line="112"/>
        <source>The ``as`` keyword can appear in an ``import`` statement, in an ``except`` clause of a ``try`` statement or in a ``with`` statement.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <location filename="../../tools/pyzoInteractiveHelp.py" line="114"/>
        <source>This keyword can appear as a part of an ``import`` or a ``raise``. It has different meanings; see help on those keywords.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <location filename="../../tools/pyzoInteractiveHelp.py" line="115"/>
        <source>This keyword can only appear in the definition of a function. It is followed by identifiers and indicates that those identifier refer variables from the outer scope, not local variables in the function being defined.

See also: ``global``</source>
        <translation type="unfinished"></translation>
    </message>
    <message encoding="UTF-8">
        <location filename="../../tools/pyzoInteractiveHelp.py" line="118"/>
        <source>The while statement is used for repeated execution as long as an expression is true:

```
while expression:
    body
else:           # optional
    suite
```
This repeatedly tests the ``expression`` and, if it is true, executes the ``body``; if the ``expression`` is false (which may be the first time it is tested) the ``suite`` of the ``else`` clause, if present, is executed and the loop terminates.

A ``break`` statement executed in the ``body`` terminates the loop without executing the ``else`` clause’s ``suite``. A ``continue`` statement executed in the ``body`` skips the rest of the ``body`` and goes back to testing the ``expression``.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <location filename="../../tools/pyzoInteractiveHelp.py" line="129"/>
        <source>Assert statements are a convenient way to insert debugging assertions into a program.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <location filename="../../tools/pyzoInteractiveHelp.py" line="130"/>
        <source>Deletion of a name removes the binding of that name from the local or global namespace. It is also possible to delete an item in a list.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <location filename="../../tools/pyzoInteractiveHelp.py" line="131"/>
        <source>This keyword is followed by identifiers and indicates that those identifiers refer variables from the module scope, not local variables.

See also: ``nonlocal``</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <location filename="../../tools/pyzoInteractiveHelp.py" line="134"/>
        <source>The operator ``not`` returns ``True`` if its argument is false, ``False`` otherwise.

See also: ``and``, ``or``, ``True``, ``False``</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <location filename="../../tools/pyzoInteractiveHelp.py" line="137"/>
        <source>The ``with`` statement is used to wrap the execution of a block with methods defined by a context manager.

Example:
```
with open(filename) as infile:
    header = infile.readline()
    # etc.
```
In this example, the context manager will ensure correct closing of the file upon exiting the ``with`` statement, even if an exception was raised.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <location filename="../../tools/pyzoInteractiveHelp.py" line="146"/>
        <source>This keyword appears as part of the ``async def``, ``async for`` and ``async with`` constructs and allows for writing coroutines.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <location filename="../../tools/pyzoInteractiveHelp.py" line="147"/>
        <source>This keyword can only appear as part of an alternative. See: ``if``</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <location filename="../../tools/pyzoInteractiveHelp.py" line="148"/>
        <source>This keyword usually introduces an alternative. It is followed by a conditon and introduces the statement to execute when this condition is true. The alternative can only have one ``if`` clause, at the beginning. It can also comprise one or more ``elif`` clauses and at most one ``else`` clause at the end.

Example:

```
if condition1 :
    doSomething       # when condition1 evaluates to True
elif condition2 :     # optional, may have several such clauses
    doSomeOtherthing  # when condition1 evaluates to False and condition2 to True
else :                # optional
    doAnotherThing    # when all conditions evaluate to False
```


The ``if`` keyword can also appear in a generator.

Example:
```
[x for x in T if x%2==0]
```
This filters ``T`` to keep only its even items.</source>
        <translation type="unfinished"></translation>
    </message>
    <message>
        <location filename="../../tools/pyzoInteractiveHelp.py" line="169"/>
        <source>This operator computes the boolean disjunction in a lazy manner. More precisely, the expression ``x or y`` first evaluates ``x``; if ``x`` is true, its value is returned; otherwise, ``y`` is evaluated and the resulting value is returned.

See also: ``and``, ``not``, ``True``, ``False``</source>
        <translation type="unfinished"></translation>
    </message>
    <message encoding="UTF-8">
        <location filename="../../tools/pyzoInteractiveHelp.py" line="172"/>
        <source>The ``yield`` expression is used when defining a generator function or an asynchronous generator function and thus can only be used in the body of a function definition. Using a yield expression in a function’s body causes that function to be a generator, and using it in an ``async def`` function’s body causes that coroutine function to be an asynchronous generator.</source>
        <translation type="unfinished"></translation>
    </message>
    <message encoding="UTF-8">
        <location filename="../../tools/pyzoInteractiveHelp.py" line="90"/>
        <source>The ``try`` statement allows to recover when an Exception was raised. It has two main forms.
    
```
try:
    critical_section
except SomeExceptionType as e:
    suite   # manage exceptions of type SomeExceptionType
else:       # optional
    everything_ok
```
If ``critical_section`` raises an exception of type ``SomeExceptionType``, the whole program will not abort but the ``suite`` will be executed, with ``e`` being bound to the actual exception. Several ``except`` clauses may be specified, each dealing with some kind of exception. If an exception is raised in ``critical_section`` but is not managed by any ``except`` clause, the whole program aborts. If there is an ``else`` clause, its body is executed if the control flow leaves the ``critical_section``, no exception was raised, and no ``return``, ``continue`` or ``break`` statement was executed. Exceptions in the ``else`` clause are not handled by the preceding ``except`` clauses.


```
try:
    critical_section
finally:
    suite
```
If ``critical_section`` raises an exception, the ``suite`` will be executed before aborting the program. The ``suite`` is also executed when no exception is raised. When a ``return``, ``break`` or ``continue`` statement is executed in the ``critical_section``, the ``finally`` clause is also executed ‘on the way out.’ A ``continue`` statement is illegal in the ``finally`` clause.

Both mechanisms can be combined, the ``finally`` clause coming after the last ``except`` clause or after the optional ``else`` clause.</source>
        <translation type="unfinished"></translation>
    </message>
</context>
<context>
    <name>pyzoSourceStructure</name>
    <message>
        <location filename="../../tools/pyzoSourceStructure.py" line="11"/>
        <source>Source structure</source>
        <translation>Code structuur</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoSourceStructure.py" line="172"/>
        <source>Parsing </source>
        <translation>Parsen van</translation>
    </message>
</context>
<context>
    <name>pyzoWebBrowser</name>
    <message>
        <location filename="../../tools/pyzoWebBrowser.py" line="19"/>
        <source>Web browser</source>
        <translation>Web browsern</translation>
    </message>
</context>
<context>
    <name>pyzoWorkspace</name>
    <message>
        <location filename="../../tools/pyzoWorkspace.py" line="11"/>
        <source>Workspace</source>
        <translation>Werkruimte</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoWorkspace.py" line="12"/>
        <source>Lists the variables in the current shell&apos;s namespace.</source>
        <translation>Laat de variabelen in de huide shell zien</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoWorkspace.py" line="167"/>
        <source>Name</source>
        <translation>Naam</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoWorkspace.py" line="167"/>
        <source>Type</source>
        <translation>Type</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoWorkspace.py" line="167"/>
        <source>Repr</source>
        <translation>Representatie</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoWorkspace.py" line="204"/>
        <source>Show namespace</source>
        <translation>Laat namespace zien</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoWorkspace.py" line="204"/>
        <source>Show help</source>
        <translation>Laat help zien</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoWorkspace.py" line="204"/>
        <source>Delete</source>
        <translation>Verwijderen</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoWorkspace.py" line="398"/>
        <source>Hide types</source>
        <translation>Verberg types</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoWorkspace.py" line="398"/>
        <source>Hide functions</source>
        <translation>Verberg functies</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoWorkspace.py" line="398"/>
        <source>Hide modules</source>
        <translation>Verberg modules</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoWorkspace.py" line="398"/>
        <source>Hide private identifiers</source>
        <translation>Verberg private variabelen</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoWorkspace.py" line="398"/>
        <source>Hide the shell&apos;s startup variables</source>
        <translation>Verberg shell opstart variabelen</translation>
    </message>
    <message>
        <location filename="../../tools/pyzoWorkspace.py" line="360"/>
        <source>Lists the variables in the current shell&apos;s namespace.

Currently, there are none. Some of them may be hidden because of the filters you configured.</source>
        <translation>Laat de variabelen in de huidige shell zien</translation>
    </message>
</context>
<context>
    <name>search</name>
    <message>
        <location filename="../../core/editorTabs.py" line="219"/>
        <source>Hide search widget (Escape)</source>
        <translation>Verber zoek scherm (Escape)</translation>
    </message>
    <message>
        <location filename="../../core/editorTabs.py" line="238"/>
        <source>Find pattern</source>
        <translation>Zoekpatroon</translation>
    </message>
    <message>
        <location filename="../../core/editorTabs.py" line="245"/>
        <source>Previous ::: Find previous occurrence of the pattern.</source>
        <translation>Vorige ::: Vind de vorige instantie van het zoekpatroon.  </translation>
    </message>
    <message>
        <location filename="../../core/editorTabs.py" line="254"/>
        <source>Next ::: Find next occurrence of the pattern.</source>
        <translation>Volgende :::Vind de volgende instantie van het zoekpatroon.</translation>
    </message>
    <message>
        <location filename="../../core/editorTabs.py" line="271"/>
        <source>Replace pattern</source>
        <translation>Vervangpatroon</translation>
    </message>
    <message>
        <location filename="../../core/editorTabs.py" line="277"/>
        <source>Replace ::: Replace this match.</source>
        <translation>Vervang ::: Vervang de huidige instantie.</translation>
    </message>
    <message>
        <location filename="../../core/editorTabs.py" line="302"/>
        <source>Match case ::: Find words that match case.</source>
        <translation>Hoofdlettergevoelig ::: Houd rekening met hoofdletters bij het zoeken.</translation>
    </message>
    <message>
        <location filename="../../core/editorTabs.py" line="308"/>
        <source>RegExp ::: Find using regular expressions.</source>
        <translation>RegExp ::: Zoek met regular expressions.</translation>
    </message>
    <message>
        <location filename="../../core/editorTabs.py" line="321"/>
        <source>Whole words ::: Find only whole words.</source>
        <translation>Hele woorden ::: Vind alleen hele woorden.</translation>
    </message>
    <message>
        <location filename="../../core/editorTabs.py" line="328"/>
        <source>Auto hide ::: Hide search/replace when unused for 10 s.</source>
        <translation>Automatisch verbergen ::: Verberg het zoek/vervang scherm als het 10 s ongebruikt is.</translation>
    </message>
    <message>
        <location filename="../../core/editorTabs.py" line="287"/>
        <source>one</source>
        <translation>Eenmaal</translation>
    </message>
    <message>
        <location filename="../../core/editorTabs.py" line="288"/>
        <source>all in this file</source>
        <translation>Allen in dit bestand</translation>
    </message>
    <message>
        <location filename="../../core/editorTabs.py" line="289"/>
        <source>all in all files</source>
        <translation>Allen in alle bestanden</translation>
    </message>
</context>
<context>
    <name>shell</name>
    <message>
        <location filename="../../core/shellInfoDialog.py" line="330"/>
        <source>Use system default</source>
        <translation>Gebruik standaard van het systeem</translation>
    </message>
    <message>
        <location filename="../../core/shellInfoDialog.py" line="474"/>
        <source>name ::: The name of this configuration.</source>
        <translation>naam ::: De naam van deze configuratie.</translation>
    </message>
    <message>
        <location filename="../../core/shellInfoDialog.py" line="475"/>
        <source>exe ::: The Python executable.</source>
        <translation>exe ::: Het Python executable bestand. </translation>
    </message>
    <message>
        <location filename="../../core/shellInfoDialog.py" line="477"/>
        <source>gui ::: The GUI toolkit to integrate (for interactive plotting, etc.).</source>
        <translation>gui ::: Welke GUI toolkit geintegreerd wordt (b.v. voor interactief plotten). </translation>
    </message>
    <message>
        <location filename="../../core/shellInfoDialog.py" line="478"/>
        <source>pythonPath ::: A list of directories to search for modules and packages. Write each path on a new line, or separate with the default seperator for this OS.</source>
        <translation>pythonPath ::: Een lijst met directories om te zoeken naar modules. Elke directorie moet op een nieuwe regel.</translation>
    </message>
    <message>
        <location filename="../../core/shellInfoDialog.py" line="479"/>
        <source>startupScript ::: The script to run at startup (not in script mode).</source>
        <translation>opstartscript ::: Het script dat uitgevoerd wordt bij het opstarten (niet in script modus).</translation>
    </message>
    <message>
        <location filename="../../core/shellInfoDialog.py" line="480"/>
        <source>startDir ::: The start directory (not in script mode).</source>
        <translation>start directorie ::: De directorie waar gestart wordt (niet in script modus). </translation>
    </message>
    <message>
        <location filename="../../core/shellInfoDialog.py" line="519"/>
        <source>Delete ::: Delete this shell configuration</source>
        <translation>Verwijderen ::: Verwijder deze shell configuratie</translation>
    </message>
    <message>
        <location filename="../../core/shellInfoDialog.py" line="596"/>
        <source>Shell configurations</source>
        <translation>Shell configuraties</translation>
    </message>
    <message>
        <location filename="../../core/shellInfoDialog.py" line="626"/>
        <source>Add config</source>
        <translation>Config toevoegen</translation>
    </message>
    <message>
        <location filename="../../core/shellInfoDialog.py" line="476"/>
        <source>ipython ::: Use IPython shell if available.</source>
        <translation>ipython ::: Gebruik IPython shell als deze beschikbaar is.</translation>
    </message>
    <message>
        <location filename="../../core/shellInfoDialog.py" line="338"/>
        <source>File to run at startup</source>
        <translation>Bestand dat uitgevoerd wordt bij het opstarten</translation>
    </message>
    <message>
        <location filename="../../core/shellInfoDialog.py" line="344"/>
        <source>Code to run at startup</source>
        <translation>Code die uitgevoerd wordt bij het opstarten</translation>
    </message>
    <message>
        <location filename="../../core/shellInfoDialog.py" line="481"/>
        <source>argv ::: The command line arguments (sys.argv).</source>
        <translation>argv ::: Command line argumenten (sys.argv).</translation>
    </message>
    <message>
        <location filename="../../core/shellInfoDialog.py" line="482"/>
        <source>environ ::: Extra environment variables (os.environ).</source>
        <translation>environ ::: Extra omgevings variabelen (os.environ).</translation>
    </message>
</context>
<context>
    <name>shells</name>
    <message>
        <location filename="../../core/shellStack.py" line="308"/>
        <source>Click to select shell.</source>
        <translation>Klik om de shell te selecteren</translation>
    </message>
</context>
<context>
    <name>splash</name>
    <message>
        <location filename="../../core/splash.py" line="68"/>
        <source>This is &lt;b&gt;Pyzo&lt;/b&gt;&lt;br /&gt;the Python IDE for scientific computing</source>
        <translation>Dit is &lt;b&gt;Pyzo&lt;/b&gt;&lt;br /&gt;de Python omgeving voor wetenschappelijk coderen</translation>
    </message>
    <message>
        <location filename="../../core/splash.py" line="69"/>
        <source>Version</source>
        <translation>Versie</translation>
    </message>
    <message>
        <location filename="../../core/splash.py" line="70"/>
        <source>Pyzo is open source software and freely available for everyone.</source>
        <translation>Pyzo is open source software en voor iedereen gratis beschikbaar.</translation>
    </message>
</context>
<context>
    <name>wizard</name>
    <message>
        <location filename="../../util/pyzowizard.py" line="160"/>
        <source>Welcome to the Interactive Editor for Python!</source>
        <translation>Welkom bij de Interactieve Editor voor Python!</translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="265"/>
        <source>The editor is where you write your code</source>
        <translation>De editor is waar je je code schrijft</translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="280"/>
        <source>The shell is where your code gets executed</source>
        <translation>De shell is waar de code uitgevoerd wordt</translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="296"/>
        <source>Configuring shells</source>
        <translation>Shells configureren</translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="311"/>
        <source>Running code</source>
        <translation>Code uitvoeren</translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="332"/>
        <source>Interactive mode vs running as script</source>
        <translation>Interactieve modus versus script modus</translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="351"/>
        <source>Tools for your convenience</source>
        <translation>Gereedschap</translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="366"/>
        <source>Recommended tools</source>
        <translation>Aanbevolen gereedschap</translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="381"/>
        <source>Get coding!</source>
        <translation>Begin met coden!</translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="93"/>
        <source>Step</source>
        <translation>Stap</translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="182"/>
        <source>Select language</source>
        <translation>Selecteer taal</translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="234"/>
        <source>Language changed</source>
        <translation>Taal aangepast</translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="258"/>
        <source>or you can write code in the *editor* and execute that.</source>
        <translation>of je kan je code in the *editor* schrijven en deze vervolgens uitvoeren.</translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="268"/>
        <source>In the *editor*, each open file is represented as a tab. By
        right-clicking on a tab, files can be run, saved, closed, etc.</source>
        <translation>In the *editor* wordt elk geopend bestand gerepresenteerd met een tab. Door met de rechtermuisknop op een tab te
klikken, kunnen bestanden worden uitgevoerd, opgeslagen, afgesloten, etc.</translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="302"/>
        <source>Via &apos;Shell &gt; Edit shell configurations&apos;, you can edit and add
        *shell configurations*. This allows you to for example select the
        initial directory, or use a custom Pythonpath.</source>
        <translation>Via &apos;Shell &gt; Aanpasses shell configuraties&apos; kan je *shell configuraties* aanpassen en toevoegen. Zo kun je bijvoorbeeld
de start directorie insteller, of het Pythonpath.</translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="321"/>
        <source>*Run cell:* a cell is everything between two lines starting with &apos;##&apos;.</source>
        <translation>*Voer cell uit:* een cell is alle code tussen twee regels die met &apos;##&apos; beginnen.</translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="323"/>
        <source>*Run file:* run all the code in the current file.</source>
        <translation>*Voer bestand uit:* alle code in het huidige bestand wordt uitgevoerd.</translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="325"/>
        <source>*Run project main file:* run the code in the current project&apos;s main file.</source>
        <translation>*Voer project main bestand uit:* alle code in de huidige main file wordt uitgevoerd.</translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="340"/>
        <source>In interactive mode, sys.path[0] is an empty string (i.e. the current dir),
        and sys.argv is set to [&apos;&apos;].</source>
        <translation>In interactieve modus is sys.path[0] een lege string (ofwel de huidige dir), en sys.argv wordt [&apos;&apos;].</translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="354"/>
        <source>Via the *Tools menu*, one can select which tools to use. The tools can
        be positioned in any way you want, and can also be un-docked.</source>
        <translation>Via het *gereedschap menu* kan je eenvoudig selecteren wel gereedschap je wilt gebruiken. Het gereedschap besaat uit kleine schermen die naar eigen voorkeur gepositioneerd kunnen worden.</translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="357"/>
        <source>Note that the tools system is designed such that it&apos;s easy to
        create your own tools. Look at the online wiki for more information,
        or use one of the existing tools as an example.</source>
        <translation>Het gereedschapsysteem is zo ontworpen dat het vrij eenvoudig is om ook zelf gereedschap te maken. Kijk 
op de online wiki.voor meer informatie.</translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="369"/>
        <source>We especially recommend the following tools:</source>
        <translation>We raden met name de volgende gereedschappen aan:</translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="371"/>
        <source>The *Source structure tool* gives an outline of the source code.</source>
        <translation>De *Sourc structure* geeft de structuur van de broncode aan.</translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="373"/>
        <source>The *File browser tool* helps keep an overview of all files
        in a directory. To manage your projects, click the star icon.</source>
        <translation>De *File browser* geeft een overzicht van alle bestanden in een directorie. Klik op het ster-icoon om je project te markeren en managen.</translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="256"/>
        <source>You can execute commands directly in the *shell*,</source>
        <translation>Je kan commandos direct in the *shell* uitvoeren.</translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="40"/>
        <source>Getting started with Pyzo</source>
        <translation>Wegwijs worden met Pyzo</translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="163"/>
        <source>This wizard helps you get familiarized with the workings of Pyzo.</source>
        <translation>Deze wizard helpt je om bekend te worden met de werking van Pyzo.</translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="165"/>
        <source>Pyzo is a cross-platform Python IDE
        focused on *interactivity* and *introspection*, which makes it
        very suitable for scientific computing. Its practical design
        is aimed at *simplicity* and *efficiency*.</source>
        <translation></translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="175"/>
        <source>This wizard can be opened using &apos;Help &gt; Pyzo wizard&apos;</source>
        <translation></translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="229"/>
        <source>
        The language has been changed for this wizard.
        Pyzo needs to restart for the change to take effect application-wide.
        </source>
        <translation></translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="253"/>
        <source>Pyzo consists of two main components</source>
        <translation></translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="283"/>
        <source>When Pyzo starts, a default *shell* is created. You can add more
        shells that run simultaneously, and which may be of different
        Python versions.</source>
        <translation></translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="287"/>
        <source>Shells run in a sub-process, such that when it is busy, Pyzo
        itself stays responsive, allowing you to keep coding and even
        run code in another shell.</source>
        <translation></translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="299"/>
        <source>Pyzo can integrate the event loop of five different *GUI toolkits*,
        thus enabling interactive plotting with e.g. Visvis or Matplotlib.</source>
        <translation></translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="314"/>
        <source>Pyzo supports several ways to run source code in the editor. (see the &apos;Run&apos; menu).</source>
        <translation></translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="384"/>
        <source>This concludes the Pyzo wizard. Now, get coding and have fun!</source>
        <translation></translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="271"/>
        <source>The right mouse button also enables one to make a file the
        *main file* of a project. This file can be recognized by its star
        symbol, and it enables running the file more easily.</source>
        <translation></translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="316"/>
        <source>*Run selection:* if there is no selected text, the current line
        is executed; if the selection is on a single line, the selection
        is evaluated; if the selection spans multiple lines, Pyzo will
        run the the (complete) selected lines.</source>
        <translation></translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="343"/>
        <source>In script mode, __file__ and sys.argv[0] are set to the scripts filename,
        sys.path[0] and the working dir are set to the directory containing the script.</source>
        <translation></translation>
    </message>
    <message>
        <location filename="../../util/pyzowizard.py" line="335"/>
        <source>You can run the current file or the main file normally, or as a script.
        When run as script, the shell is restarted to provide a clean
        environment. The shell is also initialized differently so that it
        closely resembles a normal script execution.</source>
        <translation></translation>
    </message>
</context>
</TS>
