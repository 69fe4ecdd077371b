Register-ArgumentCompleter -Native -CommandName hooktray -ScriptBlock {
    param($wordToComplete, $commandAst, $cursorPosition)
    $before = @($commandAst.CommandElements | Select-Object -Skip 1 |
        Where-Object { $_.Extent.EndOffset -lt $cursorPosition } | ForEach-Object { $_.Extent.Text })
    hooktray __complete "=$wordToComplete" @before 2>$null | ForEach-Object {
        $word, $help = $_ -split "`t", 2
        if (-not $help) { $help = $word }
        [System.Management.Automation.CompletionResult]::new($word, $word, 'ParameterValue', $help)
    }
}
