; The setup of Hooktray for one user, without administrator rights. build.py compiles it and says what goes in:
; VERSION, OUTPUT, INSTALL_LINES and REMOVE_LINES (files that name each file of the payload).
; Silent: /S; with a start at login: /S /AUTOSTART; elsewhere: /D=C:\folder (the last word).
Unicode true
Target amd64-unicode
SetCompressor /SOLID lzma
ManifestDPIAware true
RequestExecutionLevel user

!include FileFunc.nsh
!include LogicLib.nsh
!include MUI2.nsh
!include Sections.nsh
!include StrFunc.nsh
!include Win\COM.nsh
!include Win\Propkey.nsh
${StrLoc}

!define NAME "Hooktray"
!define AUMID "Hooktray" ; as the tray and its notifications say
!define RUN "Software\Microsoft\Windows\CurrentVersion\Run"
!define ENTRY "Software\Microsoft\Windows\CurrentVersion\Uninstall\${NAME}"
!define SHORTCUT "$SMPROGRAMS\${NAME}.lnk"
!define IN_USE 5 ; exit code

Name "${NAME}"
OutFile "${OUTPUT}"
InstallDir "$LOCALAPPDATA\Programs\${NAME}"
InstallDirRegKey HKCU "${ENTRY}" "InstallLocation"
BrandingText "${NAME} ${VERSION}"
VIProductVersion "${VERSION}.0"
VIAddVersionKey ProductName "${NAME}"
VIAddVersionKey ProductVersion "${VERSION}"
VIAddVersionKey FileVersion "${VERSION}"
VIAddVersionKey FileDescription "${NAME} setup"
VIAddVersionKey LegalCopyright "The Hooktray authors, MIT licence"

!define MUI_ICON "${ICON}"
!define MUI_UNICON "${ICON}"
!define MUI_FINISHPAGE_RUN "$INSTDIR\hooktrayw.exe"
!define MUI_FINISHPAGE_RUN_PARAMETERS "run"
!insertmacro MUI_PAGE_LICENSE "${LICENCE}"
!insertmacro MUI_PAGE_COMPONENTS
!insertmacro MUI_PAGE_DIRECTORY
!insertmacro MUI_PAGE_INSTFILES
!insertmacro MUI_PAGE_FINISH
!insertmacro MUI_UNPAGE_CONFIRM
!insertmacro MUI_UNPAGE_INSTFILES
!insertmacro MUI_LANGUAGE "English"

; A program that runs cannot be written over, so that is how it is found.
!macro StopIfRunning PROGRAM
  ${If} ${FileExists} "$INSTDIR\${PROGRAM}"
    ClearErrors
    FileOpen $0 "$INSTDIR\${PROGRAM}" a
    ${If} ${Errors}
      MessageBox MB_ICONEXCLAMATION|MB_OK "${PROGRAM} is in use. Choose Quit in Hooktray's menu, then try again." /SD IDOK
      SetErrorLevel ${IN_USE}
      Quit
    ${EndIf}
    FileClose $0
  ${EndIf}
!macroend

; What Windows groups windows and notifications by stands in the shortcut, where CreateShortcut cannot write it.
!macro Identify LINK
  !insertmacro ComHlpr_CreateInProcInstance ${CLSID_ShellLink} ${IID_IShellLink} r0 ""
  ${If} $0 P<> 0
    ${IUnknown::QueryInterface} $0 '("${IID_IPersistFile}",.r1)'
    ${If} $1 P<> 0
      ${IPersistFile::Load} $1 '("${LINK}", ${STGM_READWRITE})'
      ${IUnknown::QueryInterface} $0 '("${IID_IPropertyStore}",.r2)'
      ${If} $2 P<> 0
        System::Call '*${SYSSTRUCT_PROPERTYKEY}(${PKEY_AppUserModel_ID})p.r3'
        System::Call '*(&w260 "${AUMID}")p.r5'
        System::Call '*(&i2 ${VT_LPWSTR}, &i6, p r5, p)p.r4' ; a PROPVARIANT
        ${IPropertyStore::SetValue} $2 '(r3,r4)'
        ${IPropertyStore::Commit} $2 ""
        System::Free $5
        System::Free $4
        System::Free $3
        ${IUnknown::Release} $2 ""
      ${EndIf}
      ${IPersistFile::Save} $1 '("${LINK}", 1)'
      ${IUnknown::Release} $1 ""
    ${EndIf}
    ${IUnknown::Release} $0 ""
  ${EndIf}
!macroend

Section "${NAME}" PROGRAM
  SectionIn RO
  !insertmacro StopIfRunning "hooktrayw.exe"
  !insertmacro StopIfRunning "hooktray.exe"
  ${If} ${FileExists} "$INSTDIR\uninstall.exe" ; the earlier version knows which files are its own
    ExecWait '"$INSTDIR\uninstall.exe" /S /UPGRADE _?=$INSTDIR'
  ${EndIf}
  !include "${INSTALL_LINES}"
  SetOutPath "$INSTDIR"
  WriteUninstaller "$INSTDIR\uninstall.exe"
  CreateShortcut "${SHORTCUT}" "$INSTDIR\hooktrayw.exe" "run" "$INSTDIR\hooktrayw.exe" 0 SW_SHOWNORMAL "" "One tray for every coding agent's hooks"
  !insertmacro Identify "${SHORTCUT}"
  WriteRegStr HKCU "${ENTRY}" "DisplayName" "${NAME}"
  WriteRegStr HKCU "${ENTRY}" "DisplayVersion" "${VERSION}"
  WriteRegStr HKCU "${ENTRY}" "DisplayIcon" "$INSTDIR\hooktrayw.exe"
  WriteRegStr HKCU "${ENTRY}" "InstallLocation" "$INSTDIR"
  WriteRegStr HKCU "${ENTRY}" "UninstallString" '"$INSTDIR\uninstall.exe"'
  WriteRegStr HKCU "${ENTRY}" "QuietUninstallString" '"$INSTDIR\uninstall.exe" /S'
  WriteRegDWORD HKCU "${ENTRY}" "NoModify" 1
  WriteRegDWORD HKCU "${ENTRY}" "NoRepair" 1
SectionEnd

; Off unless it is chosen. The same value, in the same words, as the tray's own "Start at login".
Section /o "Start at login" AUTOSTART
  ${StrLoc} $0 "$INSTDIR" " " ">"
  ${If} $0 == ""
    WriteRegStr HKCU "${RUN}" "${NAME}" "$INSTDIR\hooktrayw.exe run"
  ${Else}
    WriteRegStr HKCU "${RUN}" "${NAME}" '"$INSTDIR\hooktrayw.exe" run'
  ${EndIf}
SectionEnd

Function .onInit
  ReadRegStr $0 HKCU "${RUN}" "${NAME}"
  ${GetParameters} $1
  ClearErrors
  ${GetOptions} $1 "/AUTOSTART" $2
  ${IfNot} ${Errors}
  ${OrIf} $0 != "" ; an update keeps what was chosen
    !insertmacro SelectSection ${AUTOSTART}
  ${EndIf}
FunctionEnd

Section "Uninstall"
  !insertmacro StopIfRunning "hooktrayw.exe"
  !insertmacro StopIfRunning "hooktray.exe"
  !include "${REMOVE_LINES}"
  Delete "$INSTDIR\uninstall.exe"
  SetOutPath "$TEMP"
  RMDir "$INSTDIR" ; only when nothing of the user's is in it
  Delete "${SHORTCUT}"
  ${GetParameters} $1
  ClearErrors
  ${GetOptions} $1 "/UPGRADE" $2
  ${If} ${Errors}
    DeleteRegValue HKCU "${RUN}" "${NAME}"
    DeleteRegKey HKCU "Software\Classes\AppUserModelId\${AUMID}"
    DeleteRegKey HKCU "${ENTRY}"
  ${EndIf}
SectionEnd
